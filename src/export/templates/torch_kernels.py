# Running. Buffers are inputs, then outputs, then scratch, as the plan numbers them.


KERF_WORDS = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32,
              "i64": torch.int64, "bool": torch.bool}


def kerf_types(entries):
    return [KERF_WORDS[entry["type"].split("[")[0]] for entry in entries]


def kerf_outputs(plan, device):
    return [torch.empty(entry["shape"], dtype=dtype, device=device) for entry, dtype in zip(plan["outputs"], kerf_types(plan["outputs"]))]


class KerfCpp:
    """A C++ kernel: one function of all buffers."""

    def __init__(self, plan, source):
        self.plan, self.source = plan, source
        self.types = kerf_types(plan["outputs"])
        self.function = None

    def run(self, inputs):
        if self.function is None:
            function = ctypes.CDLL(kerf_shared_object(self.plan, self.source)).kerf_kernel
            function.restype = None
            self.function = function
        outputs = kerf_outputs(self.plan, inputs[0].device)
        scratch = [torch.empty(size, dtype=torch.uint8) for size in self.plan["scratch"]]
        self.function(*[ctypes.c_void_p(tensor.data_ptr()) for tensor in inputs + outputs + scratch])
        return outputs


class KerfDriver:
    """The functions of libcuda that are used."""

    def __init__(self):
        self.library = ctypes.PyDLL("libcuda.so.1")  # calls keep Python's lock: a launch takes microseconds

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        if error != 0:
            words = ctypes.c_char_p()
            self.library.cuGetErrorString(error, ctypes.byref(words))
            raise KerfError("{}: {} (error {})".format(name, (words.value or b"unknown error").decode(), error))


class KerfGraphs:
    """A list of launches as CUDA graphs, one for each set of addresses that has come twice: a graph of many launches costs the
    processor and the device less than the launches. Of one thread and device."""

    LEAST_LAUNCHES = 4          # fewer are launched as they are
    MOST = 32                   # graphs are kept until the end
    MOST_SEEN = 1024
    NON_BLOCKING = THREAD_LOCAL = 1

    def __init__(self, driver, launches):
        self.driver, self.known = driver, {}
        needed = ("cuStreamIsCapturing", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch")
        self.usable = launches >= self.LEAST_LAUNCHES and all(hasattr(driver.library, name) for name in needed)

    def launched(self, addresses, stream, enqueue):
        """Whether a graph did it; without one the caller has to."""
        if addresses not in self.known:
            if len(self.known) < self.MOST_SEEN:
                self.known[addresses] = None
            return False
        capturing = ctypes.c_int()
        if self.driver.library.cuStreamIsCapturing(stream, ctypes.byref(capturing)) != 0 or capturing.value:
            return False        # the caller is making a graph: of the launches themselves
        if self.known[addresses] is None:
            if sum(graph is not None for graph in self.known.values()) >= self.MOST:
                self.usable = any(self.known.values())
                return False
            try:
                self.known[addresses] = self.captured(enqueue)
            except KerfError:
                self.usable = False
                return False
        return self.driver.library.cuGraphLaunch(self.known[addresses], stream) == 0

    def captured(self, enqueue):
        call = self.driver.call
        stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(stream), self.NON_BLOCKING)
        try:
            call("cuStreamBeginCapture_v2", stream, self.THREAD_LOCAL)
            try:
                enqueue(stream)
            finally:
                call("cuStreamEndCapture", stream, ctypes.byref(graph))
            call("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
            call("cuGraphDestroy", graph)
        finally:
            call("cuStreamDestroy_v2", stream)
        return executable


class KerfCuda:
    """CUDA kernels, __global__ functions of the source: a list of launches on the current stream of the inputs' device."""

    FREE_SHARED = 48 << 10      # dynamic shared memory that need not be asked for
    MAX_DYNAMIC_SHARED = 8      # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    STATIC_SHARED = 1           # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    ALIGNMENT = 512             # of scratch buffers

    def __init__(self, plan, source):
        self.plan, self.source = plan, source
        self.types = kerf_types(plan["outputs"])
        self.driver = None
        self.functions = {}     # device number: functions of the launches
        self.threads = {}       # (thread, device number): argument cells and argument lists of the launches
        self.offsets, self.scratch_bytes = [], 0
        for size in plan["scratch"]:
            self.offsets.append(self.scratch_bytes)
            self.scratch_bytes += -(-size // self.ALIGNMENT) * self.ALIGNMENT
        self.launches = [launch for launch in plan["launches"] if 0 not in launch["grid"]]
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda index: torch.cuda.current_stream(index).cuda_stream)

    def load(self, index):
        if self.driver is None:
            self.driver = KerfDriver()
        major, minor = torch.cuda.get_device_capability(index)
        modules = []
        for cubin in kerf_cubins(self.plan, self.source, "sm_{}{}".format(major, minor)):
            modules.append(ctypes.c_void_p())
            self.driver.call("cuModuleLoadData", ctypes.byref(modules[-1]), ctypes.c_char_p(cubin))
        functions = []
        for launch in self.launches:
            function, static = self.function(modules, launch["kernel"]), ctypes.c_int()
            self.driver.call("cuFuncGetAttribute", ctypes.byref(static), self.STATIC_SHARED, function)
            if launch["shared"] + static.value > self.FREE_SHARED:
                self.driver.call("cuFuncSetAttribute", function, self.MAX_DYNAMIC_SHARED, ctypes.c_int(launch["shared"]))
            functions.append(function)
        self.functions[index] = functions

    def function(self, modules, name):
        """The kernel of this name, in whichever module has it."""
        function = ctypes.c_void_p()
        for module in modules[:-1]:
            if self.driver.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0:
                return function
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), modules[-1], name.encode())
        return function

    def prepared(self, index):
        """What a thread launches with: a cell per buffer, and per launch everything but the stream."""
        if index not in self.functions:
            self.load(index)
        count = len(self.plan["inputs"]) + len(self.plan["outputs"]) + len(self.plan["scratch"])
        cells = (ctypes.c_uint64 * count)()
        at = ctypes.addressof(cells)
        calls = []
        for launch, function in zip(self.launches, self.functions[index]):
            pointers = (ctypes.c_void_p * (len(launch["args"]) + 1))(*[at + 8 * argument for argument in launch["args"]])
            extents = [ctypes.c_uint(extent) for extent in launch["grid"] + launch["block"] + [launch["shared"]]]
            calls.append((launch["kernel"], function, extents, pointers))
        return cells, calls, KerfGraphs(self.driver, len(calls))

    def run(self, inputs):
        index = inputs[0].device.index
        if torch.cuda.current_device() != index:
            with torch.cuda.device(index):
                return self.run_here(index, inputs)
        return self.run_here(index, inputs)

    def run_here(self, index, inputs):
        device = inputs[0].device
        outputs = kerf_outputs(self.plan, device)
        scratch = torch.empty(self.scratch_bytes, dtype=torch.uint8, device=device) if self.scratch_bytes else None
        key = (_thread.get_ident(), index)
        current = ctypes.c_void_p()
        if self.driver is None or self.driver.library.cuCtxGetCurrent(ctypes.byref(current)) != 0 or not current.value:
            torch.cuda.synchronize(index)  # makes the device's context current in this thread
        if key not in self.threads:
            self.threads[key] = self.prepared(index)
        cells, calls, graphs = self.threads[key]
        number = 0
        for tensor in inputs:
            cells[number] = tensor.data_ptr()
            number += 1
        for tensor in outputs:
            cells[number] = tensor.data_ptr()
            number += 1
        if scratch is not None:
            start = scratch.data_ptr()
            for offset in self.offsets:
                cells[number] = start + offset
                number += 1
        stream = ctypes.c_void_p(self.stream(index))
        if not graphs.usable or not graphs.launched(tuple(cells), stream, lambda to: self.enqueue(calls, to)):
            self.enqueue(calls, stream)
        return outputs

    def enqueue(self, calls, stream):
        launch = self.driver.library.cuLaunchKernel
        for kernel, function, extents, pointers in calls:
            error = launch(function, *extents, stream, pointers, None)
            if error != 0:
                raise KerfError("the kernel {} was not launched: error {} of cuLaunchKernel".format(kernel, error))


KERF_LANGUAGES = {"cpp": ("cpu", KerfCpp), "cuda_cpp": ("cuda", KerfCuda)}
