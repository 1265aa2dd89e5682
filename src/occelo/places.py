"""What the modules have in common that are named as PyTensor's, such as `occelo.gradient` and `occelo.tensor.math`.

They only collect names from other packages, so that a script for PyTensor finds them where it looks. `REASONS` says of names
that only PyTensor has what to use instead. Some places have the name of a function: `stands_at` keeps it a function.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from occelo_graph.missing_names import name_error

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
    "use occelo.get_mode with its name": """
        FAST_COMPILE JAX NUMBA PYTORCH MLX C CVM predefined_modes fast_run_linkers_to_mode""",
    "use Mode(optimizer=) with its name, or occelo_rewrite.optimizer_query": """
        OPT_NONE OPT_MINIMUM OPT_MERGE OPT_FAST_RUN OPT_FAST_RUN_STABLE OPT_FAST_COMPILE OPT_STABILIZE
        OPT_O2 OPT_O3 OPT_UNSAFE predefined_optimizers""",
    "use occelo.available_linkers": "predefined_linkers",
    "use Mode(linker=) with the name of the linker": "JAXLinker NumbaLinker PytorchLinker JITLinker LocalLinker",
    "use zero_grad, undefined_grad or disconnected_grad": "zero_grad_ undefined_grad_ disconnected_grad_",
    "use DisconnectedType()": "disconnected_type",
    "use NullType()": "null_type",
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
        char_from_number get_node_by_id min_informative_str op_as_string as_string default_node_formatter
        default_colorCodes use_ascii""",
    "an op says itself how it is printed": """
        PrinterState set_precedence OperatorPrinter PatternPrinter FunctionPrinter IgnorePrinter LeafPrinter
        leaf_printer ConstantPrinter constant_printer DefaultPrinter default_printer PPrinter VALID_ASSOC
        DimShufflePrinter""",
    "the loop program of Occelo's scans is another; see docs/loops.md": """
        ScanInfo ScanMethodsMixin ScanProfileStats FieldInfo InnerFunctionError get_updates_and_outputs
        safe_new safe_index expand_empty reconstruct_graph default_filter_scanargs forced_replace
        check_broadcast copy_var_format profile_printer err_msg1 err_msg2 err_msg3""",
    "an op with inner graphs has them in Op.regions": "HasInnerGraph HasMultipleInnerGraph",
    "use node_rewriter, or patterns of occelo_rewrite": """
        LiteralString PatternVar ConstrainedVar Asterisk PatternNode convert_strs_to_vars match_pattern
        reify_pattern""",
    "use DeepCopyOp()": "deep_copy_op",
    "use ViewOp()": "view_op",
    "use FunctionGraph.attach_feature": "AddDestroyHandler AddFeatureOptimizer add_supervisor_to_fgraph",
    "use random.negative_binomial": "nbinom",
    "use random.normal": "standard_normal",
    "use occelo.function(profile=True), and ProfileStats": """
        extended_open pytensor_imported_time total_fct_exec_time total_graph_rewrite_time total_time_linker
        print_global_stats register_profiler_printer grad_time""",
    "options are declared beside what they change": """
        short_platform add_basic_configvars add_compile_configvars add_c_compile_configvars
        add_tensor_configvars add_traceback_configvars add_error_and_warning_configvars
        add_testvalue_and_checking_configvars add_multiprocessing_configvars add_optimizer_configvars
        add_vm_configvars add_scan_configvars add_numba_configvars add_caching_dir_configvars""",
    "use Sort and ArgSort of occelo.tensor": "SortOp ArgSortOp KIND KIND_VALUES",
    "use RandomGeneratorType": "RandomType AbstractRandomGeneratorType",
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
        clone_node_and_cache Printer values_eq_approx_always_true""",
    "Occelo does not have it yet": """
        xlogx blas signal optimize pack unpack NoneConst NoneSliceConst make_slice none_type_t slicetype
        complex_matrix_types complex_scalar_types complex_types complex_vector_types float_matrix_types
        float_scalar_types float_types float_vector_types int_matrix_types int_scalar_types int_types
        int_vector_types
        wrap_jax JAXOp convolve1d convolve2d fft ifft rfft irfft minimize minimize_scalar root root_scalar
        interp interpolate1d transfer get_scalar_constant_value get_underlying_scalar_constant_value
        NotScalarConstantError SymbolicOp FinalizedOpFromGraph variable_ancestors walk_toposort""",
}
REASONS = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
"""Maps names that only PyTensor has to what to use instead, or to why Occelo does not have them."""


def hints_about(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` for ``module``: its errors say what is in `REASONS`."""

    def find(name: str) -> Any:
        text = f"module {module!r} has no attribute {name!r}"
        raise name_error(module, name, _with_reason(name, text))

    return find


def names_of(module: str, source: str) -> Callable[[str], Any]:
    """The ``__getattr__`` for ``module``, which has all names of the module ``source``, and the hints of both."""
    namespace = importlib.import_module(source)

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        try:
            return getattr(namespace, name)
        except AttributeError as error:
            raise name_error(module, name, _with_reason(name, str(error))) from None

    return find


def _with_reason(name: str, text: str) -> str:
    return f"{text}; {REASONS[name]}" if name in REASONS and ";" not in text else text


def stands_at(module: str, function: FunctionType) -> None:
    """Let every import of ``module`` give ``function``, which has its name, and gets the names of the module as attributes.

    Python sets ``occelo.scan`` to what ``sys.modules`` holds for it after ``import occelo.scan``.
    """
    modules: dict[str, Any] = sys.modules
    names: dict[str, Any] = sys.modules[module].__dict__
    vars(function).update({k: v for k, v in names.items() if not k.startswith("_")})
    vars(function)["__file__"] = names["__file__"]  # which tools read from each module
    modules[module] = function
