/* kerf
 * target:  opencl
 * # partial sums first
 * tune:    BLOCK = {64, 128}
 * tune:    PARTS = { 4,
 *                    8 }
 * require: BLOCK * PARTS <= 1024 && rows > 0
 * scratch: partial = f32[rows, PARTS]
 * scratch: flags = i32[max(rows, next_pow2(cols))]
 * launch:  first<<<(ceil_div(rows, BLOCK), PARTS), (BLOCK, 1, 1), 4 * BLOCK>>>(x, partial,
 *                 flags)
 * launch:  second<<<rows, min(BLOCK, 64)>>>(partial, w, y)
 */
__kernel void first() {}
