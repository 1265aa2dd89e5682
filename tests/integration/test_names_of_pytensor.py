"""PyTensor's public names by module: each is at the same place in Occelo, or has a written reason why it is not.

A module's public names are those in its ``__all__``, or else those that it defines. What is a function stays one.
"""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from occelo.places import REASONS

NAMES = {
    "": """
        config tensor In Mode Out shared wrap_py function get_mode Lop Rop grad pullback pushforward dprint
        ifelse scan map OpFromGraph wrap_jax""",
    "gradient": """
        grad_time as_list_or_tuple grad_not_implemented grad_undefined DisconnectedType disconnected_type
        pushforward_through_pullback pushforward pullback Rop Lop grad subgraph_grad NullTypeGradError
        DisconnectedInputError numeric_grad mode_not_slow verify_grad GradientError jacobian hessian
        hessian_vector_product ZeroGrad zero_grad_ zero_grad UndefinedGrad undefined_grad_ undefined_grad
        DisconnectedGrad disconnected_grad_ disconnected_grad GradClip grad_clip GradScale grad_scale""",
    "graph": """
        Apply Variable Constant clone ancestors graph_inputs explicit_graph_inputs clone_replace graph_replace
        vectorize_graph Op Type FunctionGraph node_rewriter graph_rewriter rewrite_graph RewriteDatabaseQuery""",
    "graph.basic": """
        OpType OptionalApplyType Node AbstractApply Apply Variable AtomicVariable NominalVariable Constant
        FrozenApply clone clone_node_and_cache clone_get_equiv default_node_formatter op_as_string as_string
        equal_computations""",
    "graph.fg": """
        ClientType AbstractFunctionGraph Output FunctionGraph FrozenFunctionGraph""",
    "graph.features": """
        HistoryEntry AlreadyThere ReplacementDidNotRemoveError BadOptimization register_feature_callback Feature
        Bookkeeper History FullHistory Validator ReplaceValidate PreserveVariableAttributes NoOutputFromInplace
        NoOutputInplaceOnInput""",
    "graph.op": """
        StorageCellType StorageMapType ComputeMapType InputStorageType OutputStorageType PerformMethodType
        BasicThunkType ThunkCallableType ThunkType is_thunk_type Op HasMultipleInnerGraph HasInnerGraph
        io_connection_pattern""",
    "graph.replace": """
        ReplaceTypes clone_replace graph_replace vectorize_graph vectorize""",
    "graph.traversal": """
        NodeAndChildren walk ancestors variable_ancestors apply_ancestors graph_inputs explicit_graph_inputs
        vars_between orphans_between applys_between apply_depends_on variable_depends_on truncated_graph_inputs
        walk_toposort general_toposort toposort toposort_with_orderings io_toposort get_var_by_name""",
    "graph.type": """
        Type HasDataType HasShape""",
    "graph.utils": """
        simple_extract_stack add_tag_trace get_variable_trace_string InconsistencyError MissingInputError
        MethodNotDefined MetaType MetaObject Scratchpad AssocList""",
    "graph.null_type": """
        NullType null_type""",
    "graph.destroyhandler": """
        ProtocolError inplace_candidates DestroyHandler""",
    "graph.rewriting": """
        rewrite_graph""",
    "graph.rewriting.basic": """
        RemoveKeyType TransformOutputType FailureCallbackType Rewriter GraphRewriter get_active_mode
        NodeRewriter FromFunctionGraphRewriter graph_rewriter inplace_graph_rewriter SequentialGraphRewriter
        MergeFeature MergeOptimizer pre_constant_merge FromFunctionNodeRewriter node_rewriter
        OpToRewriterTracker SequentialNodeRewriter SubstitutionNodeRewriter PatternNodeRewriter
        DispatchingFeature NodeProcessingGraphRewriter WalkingGraphRewriter walking_rewriter in2out out2in
        dfs_rewriter ChangeTracker merge_dict EquilibriumGraphRewriter pre_greedy_node_rewriter copy_stack_trace
        check_stack_trace CheckStackTraceFeature CheckStackTraceRewriter""",
    "graph.rewriting.db": """
        RewritesType RewriteDatabase RewriteDatabaseQuery EquilibriumDB SequenceDB LocalGroupDB TopoDB ProxyDB""",
    "graph.rewriting.utils": """
        rewrite_graph rewrite_subgraph get_clients_at_depth""",
    "graph.rewriting.unify": """
        LiteralString PatternVar ConstrainedVar Asterisk OpPattern PatternNode convert_strs_to_vars
        match_pattern reify_pattern""",
    "compile": """
        Supervisor add_supervisor_to_fgraph alias_root infer_reuse_pattern insert_deepcopy view_tree_set
        function_dump MonitorMode ProfileStats AliasedMemoryError Function In Out SymbolicInput SymbolicOutput
        FunctionMaker UnusedInputError function CVM FAST_COMPILE JAX NUMBA OPT_FAST_COMPILE OPT_FAST_RUN
        OPT_FAST_RUN_STABLE OPT_MERGE OPT_NONE OPT_O2 OPT_O3 OPT_STABILIZE OPT_UNSAFE PYTORCH AddDestroyHandler
        AddFeatureOptimizer C Mode PrintCurrentFunctionGraph get_default_mode get_mode local_useless optdb
        predefined_linkers predefined_modes predefined_optimizers register_linker register_mode
        register_optimizer DeepCopyOp FromFunctionOp ViewOp as_op deep_copy_op register_deep_copy_op_c_code
        register_view_op_c_code view_op wrap_py rebuild_collect_shared SharedVariable shared shared_constructor""",
    "compile.mode": """
        predefined_linkers register_linker OPT_NONE OPT_MINIMUM OPT_MERGE OPT_FAST_RUN OPT_FAST_RUN_STABLE
        OPT_FAST_COMPILE OPT_STABILIZE OPT_O2 OPT_O3 OPT_UNSAFE predefined_optimizers register_optimizer
        AddDestroyHandler AddFeatureOptimizer PrintCurrentFunctionGraph optdb local_useless Mode C CVM VM NUMBA
        JAX PYTORCH MLX FAST_COMPILE fast_run_linkers_to_mode predefined_modes get_mode get_default_mode
        register_mode""",
    "compile.sharedvalue": """
        collect_new_shareds SharedVariable shared shared_constructor""",
    "compile.io": """
        SymbolicInput In SymbolicOutput Out""",
    "compile.builders": """
        infer_shape construct_nominal_fgraph OpFromGraph FinalizedOpFromGraph SymbolicOp""",
    "compile.ops": """
        register_view_op_c_code TypeCastingOp ViewOp view_op register_deep_copy_op_c_code DeepCopyOp
        deep_copy_op load_back FromFunctionOp as_op wrap_py""",
    "compile.debug.debugmode": """
        OutputGuard output_guard DebugModeError BadThunkOutput BadOptimization BadDestroyMap BadViewMap
        StochasticOrder InvalidValueError str_diagnostic DataDestroyed data_destroyed check_eq validity_hint
        default_make_thunk DebugMode""",
    "compile.debug.nanguardmode": """
        contains_nan contains_inf NanGuardMode""",
    "compile.debug.monitormode": """
        MonitorMode detect_nan""",
    "compile.debug.profiling": """
        extended_open pytensor_imported_time total_fct_exec_time total_graph_rewrite_time total_time_linker
        print_global_stats register_profiler_printer ProfileStats""",
    "compile.maker": """
        function FunctionMaker""",
    "compile.executor": """
        AliasedMemoryError DUPLICATE Function""",
    "scan": """
        scan scan_checkpoints until foldl foldr map reduce""",
    "scan.basic": """
        get_updates_and_outputs scan""",
    "scan.op": """
        err_msg1 err_msg2 err_msg3 check_broadcast copy_var_format ScanInfo TensorConstructorType
        ScanMethodsMixin Scan profile_printer""",
    "scan.utils": """
        InnerFunctionError safe_new until ScanProfileStats expand_empty Validator reconstruct_graph FieldInfo
        safe_index default_filter_scanargs ScanArgs forced_replace""",
    "scan.views": """
        map reduce foldl foldr filter""",
    "scan.checkpoints": """
        scan_checkpoints""",
    "ifelse": """
        IfElse ifelse cond_make_inplace ifelse_lift_single_if_through_acceptable_ops cond_merge_ifs_true
        cond_merge_ifs_false CondMerge cond_remove_identical cond_merge_random_op""",
    "printing": """
        IDTypesType VALID_ASSOC char_from_number GraphNode iter_graph_nodes GraphModelNode GraphModel
        build_graph_model op_debug_information debugprint Print PrinterState Printer set_precedence
        OperatorPrinter PatternPrinter FunctionPrinter IgnorePrinter LeafPrinter leaf_printer ConstantPrinter
        constant_printer DefaultPrinter default_printer PPrinter use_ascii pprint pp default_colorCodes
        pydotprint min_informative_str get_node_by_id""",
    "raise_op": """
        ExceptionType exception_type CheckAndRaise Assert assert_op vectorize_check_and_raise""",
    "breakpoint": """
        PdbBreakpoint""",
    "configdefaults": """
        short_platform add_basic_configvars add_compile_configvars add_c_compile_configvars
        add_tensor_configvars add_traceback_configvars add_error_and_warning_configvars
        add_testvalue_and_checking_configvars add_multiprocessing_configvars add_optimizer_configvars
        add_vm_configvars add_scan_configvars add_numba_configvars add_caching_dir_configvars config""",
    "link": """
        PytorchLinker""",
    "link.basic": """
        ThunkAndContainersType Container Linker LocalLinker PerformLinker WrapLinker WrapLinkerMany JITLinker""",
    "link.vm": """
        calculate_reallocate_info VM UpdatingVM Loop Stack VMLinker""",
    "tensor": """
        Sequence singledispatch Constant Op Variable TensorLike as_tensor_variable get_vector_length grad
        hessian jacobian blas sharedvar xlogx linalg special signal optimize e euler_gamma inf nan newaxis pi
        shape reshape einsum sort pad alloc arange as_tensor atleast_Nd cast choose concatenate constant diag
        diagonal empty empty_like expand_dims extract_diag eye fill flatnonzero flatten full full_like
        get_scalar_constant_value get_underlying_scalar_constant_value horizontal_stack identity identity_like
        inverse_permutation is_flat join matrix_transpose mgrid moveaxis nonzero nonzero_values ogrid ones
        ones_like permute_row_elements roll scalar_from_tensor second split stack stacklists swapaxes switch
        take_along_axis tensor_copy tensor_from_scalar tile trace transfer transpose tri tril tril_indices
        tril_indices_from triu triu_indices triu_indices_from vertical_stack where zeros zeros_like bartlett
        bincount broadcast_arrays broadcast_shape broadcast_to compress concat_with_broadcast cumprod cumsum
        diff fill_diagonal fill_diagonal_offset geomspace linspace logspace ravel_multi_index repeat
        searchsorted squeeze unique unravel_index interp interpolate1d abs add all allclose and_ angle any
        arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin betainc betaincinv bitwise_and
        bitwise_not bitwise_or bitwise_xor ceil ceil_intdiv chi2sf clip complex complex_from_polar conj
        conjugate cos cosh cov deg2rad dense_dot digamma divmod dot eq equal erf erfc erfcinv erfcx erfinv exp
        exp2 expit expm1 floor floor_div gamma gammainc gammaincc gammainccinv gammaincinv gammal gammaln gammau
        ge greater greater_equal gt hyp2f1 i0 i1 imag int_div invert iround isclose isfinite isinf isnan
        isneginf isposinf iv ive j0 j1 jv kn kv kve largest le less less_equal log log1mexp log1p log1pexp log2
        log10 lt matmul matvec max max_and_argmax maximum mean median min minimum mod mul nan_to_num ndtri_exp
        neg neq not_equal or_ outer owens_t polygamma pow power prod psi ptp rad2deg real reciprocal round
        round_half_away_from_zero round_half_to_even sgn sigmoid sign sin sinh smallest softplus sqr sqrt square
        std sub sum tan tanh tensordot tri_gamma true_div trunc var vecdot vecmat xor logaddexp logsumexp
        join_dims pack split_dims unpack shape_padaxis shape_padleft shape_padright specify_broadcastable
        specify_shape argsort flip inc_subtensor set_subtensor slice_at_axis take TensorType bcol bmatrix brow
        bscalar btensor3 btensor4 btensor5 btensor6 btensor7 bvector ccol cmatrix col complex_matrix_types
        complex_scalar_types complex_types complex_vector_types crow cscalar ctensor3 ctensor4 ctensor5 ctensor6
        ctensor7 cvector dcol dmatrix drow dscalar dtensor3 dtensor4 dtensor5 dtensor6 dtensor7 dvector fcol
        float_matrix_types float_scalar_types float_types float_vector_types fmatrix frow fscalar ftensor3
        ftensor4 ftensor5 ftensor6 ftensor7 fvector icol imatrix int_matrix_types int_scalar_types int_types
        int_vector_types irow iscalar itensor3 itensor4 itensor5 itensor6 itensor7 ivector lcol lmatrix lrow
        lscalar ltensor3 ltensor4 ltensor5 ltensor6 ltensor7 lvector matrix row scalar tensor tensor3 tensor4
        tensor5 tensor6 tensor7 values_eq_approx_always_true vector wcol wrow wscalar wtensor3 wtensor4 wtensor5
        wtensor6 wtensor7 wvector zcol zmatrix zrow zscalar ztensor3 ztensor4 ztensor5 ztensor6 ztensor7 zvector
        NoneConst NoneSliceConst make_slice none_type_t slicetype TensorConstant TensorVariable vectorize random""",
    "tensor.math": """
        abs add all allclose and_ angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
        betainc betaincinv bitwise_and bitwise_not bitwise_or bitwise_xor ceil ceil_intdiv chi2sf clip complex
        complex_from_polar conj conjugate cos cosh cov deg2rad dense_dot digamma divmod dot eq equal erf erfc
        erfcinv erfcx erfinv exp exp2 expit expm1 floor floor_div gamma gammainc gammaincc gammainccinv
        gammaincinv gammal gammaln gammau ge greater greater_equal gt hyp2f1 i0 i1 imag int_div invert iround
        isclose isfinite isinf isnan isneginf isposinf iv ive j0 j1 jv kn kv kve largest le less less_equal log
        log1mexp log1p log1pexp log2 log10 lt matmul matvec max max_and_argmax maximum mean median min minimum
        mod mul nan_to_num ndtri_exp neg neq not_equal or_ outer owens_t polygamma pow power prod psi ptp
        rad2deg real reciprocal round round_half_away_from_zero round_half_to_even sgn sigmoid sign sin sinh
        smallest softplus sqr sqrt square std sub sum tan tanh tensordot tri_gamma true_div trunc var vecdot
        vecmat xor""",
    "tensor.basic": """
        alloc arange as_tensor as_tensor_variable atleast_1d atleast_2d atleast_3d atleast_Nd cast choose
        concatenate constant diag diagonal empty empty_like expand_dims extract_diag eye fill flatnonzero
        flatten full full_like get_scalar_constant_value get_underlying_scalar_constant_value get_vector_length
        horizontal_stack identity identity_like inverse_permutation is_flat join matrix_transpose mgrid moveaxis
        nonzero nonzero_values ogrid ones ones_like permute_row_elements roll scalar_from_tensor second split
        stack stacklists swapaxes switch take_along_axis tensor_copy tensor_from_scalar tile trace transfer
        transpose tri tril tril_indices tril_indices_from triu triu_indices triu_indices_from vertical_stack
        where zeros zeros_like""",
    "tensor.type": """
        TensorType bcol bmatrix brow bscalar btensor3 btensor4 btensor5 btensor6 btensor7 bvector ccol cmatrix
        col cols complex_matrix_types complex_scalar_types complex_types complex_vector_types crow cscalar
        ctensor3 ctensor4 ctensor5 ctensor6 ctensor7 cvector dcol dcols dmatrices dmatrix drow drows dscalar
        dscalars dtensor3 dtensor3s dtensor4 dtensor4s dtensor5 dtensor5s dtensor6 dtensor6s dtensor7 dtensor7s
        dvector dvectors fcol fcols float_matrix_types float_scalar_types float_types float_vector_types
        fmatrices fmatrix frow frows fscalar fscalars ftensor3 ftensor3s ftensor4 ftensor4s ftensor5 ftensor5s
        ftensor6 ftensor6s ftensor7 ftensor7s fvector fvectors icol icols imatrices imatrix int_matrix_types
        int_scalar_types int_types int_vector_types irow irows iscalar iscalars itensor3 itensor3s itensor4
        itensor4s itensor5 itensor5s itensor6 itensor6s itensor7 itensor7s ivector ivectors lcol lcols lmatrices
        lmatrix lrow lrows lscalar lscalars ltensor3 ltensor3s ltensor4 ltensor4s ltensor5 ltensor5s ltensor6
        ltensor6s ltensor7 ltensor7s lvector lvectors matrices matrix row rows scalar scalars tensor tensor3
        tensor3s tensor4 tensor4s tensor5 tensor5s tensor6 tensor6s tensor7 tensor7s
        values_eq_approx_always_true vector vectors wcol wrow wscalar wtensor3 wtensor4 wtensor5 wtensor6
        wtensor7 wvector zcol zmatrix zrow zscalar ztensor3 ztensor4 ztensor5 ztensor6 ztensor7 zvector""",
    "tensor.shape": """
        ShapeValueType register_shape_c_code Shape shape vectorize_shape shape_tuple Shape_i shape_i
        register_shape_i_c_code SpecifyShape specify_shape Reshape reshape shape_padleft shape_padright
        shape_padaxis specify_broadcastable""",
    "tensor.subtensor": """
        flip inc_subtensor set_subtensor slice_at_axis take""",
    "tensor.elemwise": """
        DimShuffle DimShufflePrinter Elemwise CAReduce scalar_elemwise vectorize_dimshuffle
        get_normalized_batch_axes vectorize_careduce""",
    "tensor.blockwise": """
        Blockwise vectorize_node_fallback OpWithCoreShape BlockwiseWithCoreShape""",
    "tensor.extra_ops": """
        bartlett bincount broadcast_arrays broadcast_shape broadcast_to compress concat_with_broadcast cumprod
        cumsum diff fill_diagonal fill_diagonal_offset geomspace linspace logspace ravel_multi_index repeat
        searchsorted squeeze unique unravel_index""",
    "tensor.linalg": """
        block_diag cho_solve cholesky det eig eigh eigvalsh expm inv kron lstsq lu lu_factor lu_solve matrix_dot
        matrix_power norm ordqz pinv pivot_to_permutation qr qz schur slogdet solve solve_continuous_lyapunov
        solve_discrete_are solve_discrete_lyapunov solve_sylvester solve_triangular svd tensorinv tensorsolve
        trace tridiagonal_lu_factor tridiagonal_lu_solve""",
    "tensor.special": """
        beta betaln factorial log_softmax logaddexp logit logsumexp poch softmax xlog1py xlogy""",
    "tensor.sort": """
        KIND KIND_VALUES SortOp sort ArgSortOp argsort""",
    "tensor.random": """
        bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet exponential gamma
        gengamma geometric gumbel halfcauchy halfnormal hypergeometric integers invgamma laplace logistic
        lognormal multinomial multivariate_normal nbinom negative_binomial normal pareto permutation poisson
        standard_normal t triangular truncexpon uniform vonmises wald weibull default_rng RandomStream rng
        shared_rng""",
    "tensor.random.utils": """
        params_broadcast_shapes broadcast_params explicit_expand_dims compute_batch_shape normalize_size_param
        custom_rng_deepcopy RandomStream supp_shape_from_ref_param_shape""",
    "tensor.random.basic": """
        bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet exponential gamma
        gengamma geometric gumbel halfcauchy halfnormal hypergeometric integers invgamma laplace logistic
        lognormal multinomial multivariate_normal nbinom negative_binomial normal pareto permutation poisson
        standard_normal t triangular truncexpon uniform vonmises wald weibull""",
    "tensor.random.op": """
        RNGConsumerOp RandomVariable AbstractRNGConstructor DefaultGeneratorMakerOp default_rng
        vectorize_random_variable RandomVariableWithCoreShape""",
    "tensor.random.type": """
        gen_states_keys numpy_bit_gens RandomType AbstractRandomGeneratorType RandomGeneratorType
        random_generator_type as_rng""",
    "tensor.variable": """
        TensorVariable TensorConstantSignature get_unique_constant_value TensorConstant DenseVariableMeta
        DenseTensorVariable DenseConstantMeta DenseTensorConstant""",
    "tensor.sharedvar": """
        load_shared_variable TensorSharedVariable tensor_constructor scalar_constructor""",
    "tensor.functional": """
        vectorize""",
}
"""The names of PyTensor 3.3, by module below ``pytensor``."""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("module", NAMES)
def test_each_name_is_there_or_has_a_reason(module: str) -> None:
    place = importlib.import_module(f"occelo.{module}".rstrip("."))
    for name in NAMES[module].split():
        assert hasattr(place, name) != (name in REASONS), name


def test_what_is_missing_has_a_hint_in_both_errors() -> None:
    from occelo import gradient

    with pytest.raises(
        AttributeError, match=r"no attribute 'disconnected_type'; use DisconnectedType\(\)$"
    ):
        _ = gradient.disconnected_type  # pyright: ignore
    for statement, hint in (
        ("from occelo.gradient import disconnected_type", r"; use DisconnectedType\(\)$"),
        ("from occelo.compile.mode import FAST_COMPILE", "; use occelo.get_mode with its name$"),
        ("from occelo.tensor.nlinalg import matrix_inverse", r"; use occelo\.tensor\.linalg\.inv$"),
        ("from occelo.tensor.math import scan", r"; use occelo\.scan$"),
        ("from occelo.link.c.op import COp", "No module named 'occelo.link.c'"),
    ):
        with pytest.raises(ImportError, match=hint):
            exec(statement)
    assert not hasattr(gradient, "disconnected_type")


IMPORTS = (
    "import occelo.scan",
    "import occelo.scan.views",
    "import occelo.ifelse",
    "import occelo.tensor.sort, occelo.tensor.shape",
    "from occelo.scan import until, views; assert oc.scan.until is until",
    "from occelo import scan, ifelse, config",
    "assert oc.scan.until and oc.scan.views.map and oc.ifelse.IfElse",
    "from occelo.tensor.shape import reshape; from occelo.tensor.sort import argsort",
)


@pytest.mark.parametrize(
    "order",
    [IMPORTS, IMPORTS[::-1], IMPORTS[3:] + IMPORTS[:3]],
    ids=["forward", "backward", "rotated"],
)
def test_functions_stay_functions_in_every_order(order: tuple[str, ...]) -> None:
    code = f"""
import types, occelo, occelo as oc, occelo.tensor as ot
def check():
    functions = (oc.scan, oc.ifelse, ot.sort, ot.shape)
    assert all(isinstance(f, types.FunctionType) for f in functions), functions
    assert isinstance(oc.config.floatX, str)
statements = {order!r}
for statement in statements:
    exec(statement)
    check()
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


def test_modules_are_there_without_their_import() -> None:
    code = """
import sys, occelo
assert [m for m in sys.modules if m.startswith("occelo.")] == ["occelo.tensor"]
assert occelo.gradient.grad is occelo.grad is occelo.tensor.grad
assert occelo.graph.rewriting.basic.node_rewriter is occelo.node_rewriter
assert occelo.tensor.random.utils.RandomStream is occelo.tensor.random.RandomStream
assert occelo.compile.debug.nanguardmode.NanGuardMode is occelo.NanGuardMode
assert occelo.tensor.math.exp is occelo.tensor.exp
"""
    subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
