"""Why Occelo lacks a name or a module that PyTensor has, or what to use instead.

`occelo.places` puts this into errors, and `docs/names_of_pytensor.py` into the table of docs/names-of-pytensor.md.
"""

from __future__ import annotations

_SPARSE_OPS = """
    AddSparseDense AddSparseSparse AddSparseSparseData CSMGrad Cast ColScaleCSC ConstructSparseFromList DenseFromSparse Diag Dot
    EnsureSortedIndices EqualSparseDense EqualSparseSparse GetItem2Lists GetItem2ListsGrad GetItem2d GetItemList GetItemListGrad
    GetItemScalar GreaterEqualSparseDense GreaterEqualSparseSparse GreaterThanSparseDense GreaterThanSparseSparse HStack
    LessEqualSparseDense LessEqualSparseSparse LessThanSparseDense LessThanSparseSparse MultiplySparseDense
    MultiplySparseDenseVector MultiplySparseSparse NotEqualSparseDense NotEqualSparseSparse Remove0 RowScaleCSC SamplingDot SpSum
    SparseBlockDiagonal SparseFromDense Stack StructuredAddSparseDenseVector StructuredDot StructuredDotGradCSC
    StructuredDotGradCSR Transpose TrueDot Usmm VStack csm_grad get_item_2lists_grad get_item_list_grad"""
"""Ops of PyTensor's sparse matrices and of their derivatives. Some share a name with ops of tensors."""


def _sparse(names: str) -> str:
    places = "sparse sparse.basic sparse.math sparse.linalg sparse.type sparse.utils sparse.variable".split()
    return " ".join(f"{place}.{name}" for place in places for name in names.split())


_BY_REASON = {
    "it is only a name for annotations, which Occelo does not have": """
        OpType OptionalApplyType ClientType ReplaceTypes NodeAndChildren StorageCellType StorageMapType
        ComputeMapType InputStorageType OutputStorageType PerformMethodType BasicThunkType ThunkCallableType
        ThunkType RewritesType RemoveKeyType TransformOutputType FailureCallbackType ShapeValueType
        ExceptionType ThunkAndContainersType TensorConstructorType CThunkWrapperType IDTypesType
        is_thunk_type is_cthunk_wrapper_type HasDataType HasShape""",
    "ops have no C code in Occelo; see docs/adding-an-op.md": """
        COp ExternalCOp OpenMPOp lquote_macro get_sub_macros get_io_macros register_view_op_c_code
        register_deep_copy_op_c_code register_shape_c_code register_shape_i_c_code""",
    "use occelo.get_mode with its name": "fast_run_linkers_to_mode",
    "Occelo has no backend MLX": "MLX",
    "use occelo.available_linkers": "predefined_linkers",
    "a reduction is a CAReduce, whose scalar_op says of which function": """
        All Any Max Min Prod ProdWithoutZeros Sum FixedOpCAReduce NonZeroDimsCAReduce""",
    "use Mode(linker=) with the name of the linker": "JAXLinker NumbaLinker PytorchLinker JITLinker LocalLinker",
    "use in2out or out2in, or decorate a function with node_rewriter": """
        walking_rewriter dfs_rewriter SequentialNodeRewriter NodeProcessingGraphRewriter
        FromFunctionNodeRewriter FromFunctionGraphRewriter OpToRewriterTracker DispatchingFeature
        ChangeTracker inplace_graph_rewriter""",
    "use NodeRewriter or GraphRewriter": "Rewriter",
    "Occelo notes the user's line of each variable itself": """
        copy_stack_trace check_stack_trace CheckStackTraceFeature CheckStackTraceRewriter add_tag_trace
        get_variable_trace_string simple_extract_stack""",
    "use occelo.dprint": """
        op_debug_information GraphNode iter_graph_nodes GraphModelNode GraphModel build_graph_model
        char_from_number get_node_by_id min_informative_str default_colorCodes use_ascii""",
    "an op says itself how it is printed": """
        PrinterState set_precedence OperatorPrinter PatternPrinter FunctionPrinter IgnorePrinter LeafPrinter
        leaf_printer ConstantPrinter constant_printer DefaultPrinter default_printer PPrinter VALID_ASSOC
        DimShufflePrinter""",
    "the loop program of Occelo's scans is another; see docs/loops.md": """
        ScanInfo ScanMethodsMixin ScanProfileStats FieldInfo InnerFunctionError get_updates_and_outputs
        safe_new safe_index expand_empty reconstruct_graph default_filter_scanargs forced_replace
        check_broadcast copy_var_format profile_printer err_msg1 err_msg2 err_msg3""",
    "an op with inner graphs has them in Op.regions": "HasInnerGraph HasMultipleInnerGraph",
    "use FunctionGraph.attach_feature": "AddDestroyHandler AddFeatureOptimizer add_supervisor_to_fgraph",
    "use occelo.function(profile=True), and ProfileStats": """
        extended_open pytensor_imported_time total_fct_exec_time total_graph_rewrite_time total_time_linker
        print_global_stats register_profiler_printer grad_time""",
    "options are declared beside what they change": """
        short_platform add_basic_configvars add_compile_configvars add_c_compile_configvars
        add_tensor_configvars add_traceback_configvars add_error_and_warning_configvars
        add_testvalue_and_checking_configvars add_multiprocessing_configvars add_optimizer_configvars
        add_vm_configvars add_scan_configvars add_numba_configvars add_caching_dir_configvars""",
    "functions of sparse matrices are graphs of dense ops; use the function in occelo.sparse": _sparse(
        _SPARSE_OPS
    ),
    "matrices of other formats are taken and become CSR": _sparse(
        "bsr_matrix bsr_dmatrix bsr_fmatrix"
    ),
    "constants are compared by the contents of their arrays": _sparse(
        "hash_from_sparse SparseConstantSignature"
    ),
    "it is only a name for annotations": _sparse("SparsityTypes"),
    "write A.toarray() for methods of dense tensors": _sparse("override_dense"),
    "it is only for annotations: kind= of occelo.tensor.sort lists them": "KIND KIND_VALUES",
    "use RandomGeneratorType": "AbstractRandomGeneratorType",
    "it is a part of PyTensor's own workings": """
        as_list_or_tuple mode_not_slow Node AbstractApply FrozenApply AbstractFunctionGraph HistoryEntry
        register_feature_callback io_connection_pattern MetaType MetaObject Scratchpad AssocList ProtocolError
        get_active_mode pre_constant_merge merge_dict pre_greedy_node_rewriter get_clients_at_depth alias_root
        infer_reuse_pattern view_tree_set PrintCurrentFunctionGraph local_useless rebuild_collect_shared
        construct_nominal_fgraph infer_shape TypeCastingOp load_back OutputGuard output_guard str_diagnostic
        DataDestroyed data_destroyed check_eq validity_hint default_make_thunk contains_nan contains_inf
        cond_make_inplace ifelse_lift_single_if_through_acceptable_ops cond_merge_ifs_true
        cond_merge_ifs_false CondMerge cond_remove_identical cond_merge_random_op exception_type
        vectorize_check_and_raise WrapLinkerMany calculate_reallocate_info UpdatingVM Loop Stack Sequence
        singledispatch vectorize_shape scalar_elemwise vectorize_dimshuffle get_normalized_batch_axes
        vectorize_careduce vectorize_node_fallback OpWithCoreShape BlockwiseWithCoreShape
        params_broadcast_shapes broadcast_params explicit_expand_dims compute_batch_shape custom_rng_deepcopy
        supp_shape_from_ref_param_shape RNGConsumerOp AbstractRNGConstructor DefaultGeneratorMakerOp
        vectorize_random_variable RandomVariableWithCoreShape gen_states_keys numpy_bit_gens as_rng
        TensorConstantSignature get_unique_constant_value DenseVariableMeta DenseTensorVariable
        DenseConstantMeta DenseTensorConstant load_shared_variable tensor_constructor scalar_constructor
        construct_function_ins_and_outs CONTRACTION_STEP PATH VALID_ORD UNSET pad_or_return InterpolationMethod valid_methods compile.debug.nanguardmode.flatten graph.rewriting.all
        clone_node_and_cache Printer values_eq_approx_always_true scipy_signal""",
    "use shared generators; docs/random.md": "RNG_AND_DRAW warn_reuse randomgen_constructor",
    "arguments and errors of types are TypeError and ValueError in Occelo": "ShapeError AdvancedIndexingError",
    "it is composed of FFT ops of another form": "RFFTOp rfft_op IRFFTOp irfft_op",
    "use occelo.graph.basic.as_string": "op_as_string",
    "use LUFactor": "LU",
    "use BlockDiagonal": "BaseBlockDiagonal",
    "use PivotToPermutation": "PivotToPermutations",
    "use tridiagonal_lu_factor and tridiagonal_lu_solve, whose ops are TridiagonalFactor and TridiagonalSolve": """
        LUFactorTridiagonal SolveLUFactorTridiagonal""",
    "it is composed of other ops, and has none of its own": """
        TensorInv TensorSolve CholeskySolve SolveBase Einsum AbstractConvolveNd Convolve1d Convolve2d""",
    "dtypes of results are those that NumPy gives": "linalg_output_dtype linalg_real_output_dtype",
    "rewriting chooses calls of BLAS itself": """
        BaseBLAS BatchedDot CGemv Dot22 Dot22Scalar Gemm GemmRelated Gemv blas_header_text blas_header_version
        cgemv_inplace cgemv_no_inplace gemm gemm_inplace gemm_no_inplace gemv gemv_inplace gemv_no_inplace ldflags
        mkl_threads_text must_initialize_y_gemv must_initialize_y_gemv_c openblas_threads_text view_roots""",
    "an if-else is lazy": "LazyIfElse",
    "use occelo.config": """
        PyTensorConfigWarning ConfigAccessViolation PyTensorConfigParser ConfigParam EnumStr TypedParam StrParam
        IntParam FloatParam BoolParam parse_config_string config_files_from_pytensorrc""",
    "operations on named dimensions have no ops of their own; see docs/dims.md": """
        XOp XTypeCastOp TensorFromXTensor XTensorFromTensor Rename XReduce XCumReduce XElemwise XBlockwise XRV
        vectorize_xop as_xrv RNGToXRNG XRNGToRNG rng_to_xrng xrng_to_rng XTensorConstantSignature IndexUpdate
        as_idx_variable get_static_slice_length combine_dims_and_shape xtensor.indexing.Index xtensor.math.Dot
        xtensor.shape.Broadcast xtensor.shape.Concat xtensor.shape.ExpandDims xtensor.shape.Squeeze
        xtensor.shape.Stack xtensor.shape.Transpose xtensor.shape.UnStack""",
    "use x[key].set(y) and x[key].inc(y)": "index_assignment index_increment",
    "use the functions of occelo.xtensor.reduction": "REDUCE_DIM bool_reduce cumreduce xtensor.reduction.reduce",
    "use XRandomGenerator of occelo.xtensor.random": """
        XRandomGeneratorType XRandomGeneratorVariable XRandomGeneratorSharedVariable xrandom_generator_type
        xtensor.random.type.as_rng""",
    "use occelo.minimize": "minimize",
    "use xlogy(x, x)": "xlogx",
    "use occelo.tensor.signal": "convolve1d convolve2d",
    "use occelo.tensor.fft": "fft ifft rfft irfft",
    "use occelo.wrap_jax": "JAXOp",
    "use occelo.optimize": "minimize_scalar root root_scalar",
    "an op with a decomposition is its own graph; see docs/adding-an-op.md": "SymbolicOp FinalizedOpFromGraph",
    "Occelo tells kanren itself how its graphs are taken apart": """
        car_Op cdr_Op car_Variable cdr_Variable car_Type cdr_Type apply_Op_ExpressionTuple""",
    "there is one device, and a mode chooses the backend": "transfer",
    "rewriting chooses calls of BLAS itself; use dot": "blas",
}
MODULES = {
    "assumptions": "use occelo.tensor.assume and the facts of docs/rewrites.md",
    "basic": "it is a part of PyTensor's own workings",
    "bin": "use the command occelo",
    "compile.compiledir": "use the command `occelo cache`",
    "compile.compilelock": "the cache of Occelo needs no lock; see `occelo cache`",
    "compile.inner_function": "it is a part of PyTensor's own workings",
    "compile.rewriting": "use occelo_rewrite.optdb",
    "conditional.rewriting": "rewrites of PyTensor have other names in Occelo; see docs/rewrites.md",
    "d3viz": "use occelo.to_dot, or occelo.view_rewriting",
    "graph.rewriting.reachability": "it is a part of PyTensor's own workings",
    "ipython": "use occelo.view_rewriting",
    "link.c": "ops have no C code in Occelo; see docs/adding-an-op.md",
    "link.jax": "a lowering to JAX is registered with occelo_link; see docs/adding-an-op.md",
    "link.mlx": "Occelo has no backend MLX",
    "link.numba": "a lowering is registered with occelo_link; see docs/adding-an-op.md",
    "link.pytorch": "a lowering to PyTorch is registered with occelo_link; see docs/adding-an-op.md",
    "link.utils": "it is a part of PyTensor's own workings",
    "misc": "it is a part of PyTensor's own workings",
    "npy_2_compat": "it is a part of PyTensor's own workings",
    "scalar": "scalar functions are elementwise: use occelo.tensor",
    "scan.rewriting": "rewrites of PyTensor have other names in Occelo; see docs/rewrites.md",
    "scan.scan_perform": "it is a part of PyTensor's own workings",
    "scan.scan_perform_ext": "it is a part of PyTensor's own workings",
    "sparse.rewriting": "the parts of sparse matrices are dense tensors, whose rewrites are those of docs/rewrites.md",
    "tensor.blas": "rewriting chooses calls of BLAS itself; use occelo.tensor.dot",
    "tensor.elemwise_cgen": "ops have no C code in Occelo; see docs/adding-an-op.md",
    "tensor.fourier": "use occelo.tensor.fft",
    "tensor.inplace": "rewriting computes in place by itself; use occelo.tensor",
    "tensor.linalg.dtype_utils": "dtypes of results are those that NumPy gives",
    "tensor.nnet": "use occelo.nn, and occelo.tensor, which has softmax and sigmoid, too",
    "tensor.random.rewriting": "rewrites have other names in Occelo, see docs/rewrites.md",
    "tensor.rewriting": "rewrites have other names in Occelo, see docs/rewrites.md; `basic` has `register_canonicalize` and its like",
    "tensor.symbolic": "an op with a decomposition is its own graph; see docs/adding-an-op.md",
    "tensor.utils": "it is a part of PyTensor's own workings",
    "tensor.xlogx": "use occelo.tensor.xlogy(x, x)",
    "typed_list.basic": "use occelo.typed_list",
    "typed_list.rewriting": "rewrites of PyTensor have other names in Occelo; see docs/rewrites.md",
    "typed_list.type": "use occelo.typed_list.TypedListType",
    "utils": "it is a part of PyTensor's own workings",
    "xtensor.rewriting": "operations on named dimensions build graphs of tensors at once, so there is nothing to rewrite",
}
"""Maps modules below ``pytensor`` that Occelo lacks to the reason; the modules below them have the same one."""
OLDER_MODULES = {
    "compile.sandbox": "it is a part of PyTensor's own workings",
    "gof": "use occelo.graph, occelo.compile and occelo.link",
    "graph.opt": "use occelo.graph.rewriting.basic, in which optimizers are called rewriters",
    "graph.opt_utils": "use occelo.graph.rewriting.utils",
    "graph.optdb": "use occelo.graph.rewriting.db",
    "graph.sched": "use the order that FunctionGraph.toposort gives",
    "graph.toolbox": "use occelo.graph.features",
    "gpuarray": "Occelo computes on the processor; a mode chooses the backend",
    "sandbox.cuda": "Occelo computes on the processor; a mode chooses the backend",
    "sandbox.linalg": "use occelo.tensor.linalg",
    "sandbox.rng_mrg": "use occelo.tensor.random.utils.RandomStream",
    "sandbox": "use occelo.tensor",
    "scan.opt": "rewrites have other names in Occelo, see docs/rewrites.md",
    "scan.scan_utils": "use occelo.scan.utils",
    "scan_module": "use occelo.scan",
    "tensor.basic_opt": "rewrites have other names in Occelo, see docs/rewrites.md; occelo.tensor.rewriting.basic has register_canonicalize and its like",
    "tensor.math_opt": "rewrites have other names in Occelo, see docs/rewrites.md",
    "tensor.opt": "rewrites have other names in Occelo, see docs/rewrites.md",
    "tensor.raw_random": "use occelo.tensor.random",
    "tensor.shared_randomstreams": "use occelo.tensor.random.utils.RandomStream",
    "tensor.signal.downsample": "use occelo.tensor.signal.pool_2d",
    "tensor.signal.pool": "use occelo.tensor.signal.pool_2d",
    "tensor.slinalg_opt": "rewrites have other names in Occelo, see docs/rewrites.md",
    "tests": "use occelo.verify_grad, and occelo_testing",
}
"""The same for modules of libraries before PyTensor, and of its first versions."""


def why_no_module(place: str) -> str | None:
    """What to use instead of the module at ``place`` below ``occelo``, or why it is not there; None if it is not known."""
    for modules in (MODULES, OLDER_MODULES):
        for each, reason in modules.items():
            if f"{place}.".startswith(f"{each}."):
                return reason
    return None


REASONS = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
"""Maps names that only PyTensor has to what to use instead, or to why Occelo does not have them."""
