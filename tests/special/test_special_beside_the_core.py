"""Special functions beside the core: files of before they were a family, keys, functions of NumPy and SciPy, rules."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys
import zlib
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_special import functions as sp

# gammaln(x) + the derivative of sum(gammainc(k, x)) by k, as `save` wrote it when the functions were of the graph package
SAVED = (
    b"c-qBQ&2Q5%6weqiG;!P?(0PY~WVWR3x-ObP6JnPMRIzbDQB_%vyM;P-<RoQPiNui`2mVq101mw8G+R?KX?&=p^0VK^?|sFN+do~uzvYzAw&U$g"
    b"K3!}$4vtNbTo{&I?tVzMnvsz<G0TWgH0MI<XI4ijnFy0cS`oiRNu-iIONk%2)EiKu^K8z0ZD5VomI19hw<QA_cr|XHdX#Xj(u}E$&>3OIuqpA~"
    b"VgN3b4#nI>01<)~40m9ilre*LC25uG4l0pv!<z2HqFYHirNx2uV?zgBid?Vq(XG55R+0nIQsg|h5_NC}fmiwIp_W?SyH4;BGqS8VPZ7$=rim?Q"
    b"W>?T#+f@Hts8pMC6j3r3P<=o~QnRev!H#5kBEdLNxs-!qP|!bv-xV6EUjXs#CS~e6xrV=zBK{bq2p&a3hF~xwDQA+IA({b`u`J@(fHSK*$raCV"
    b"4=utJi)~&kj+s=XDC{PYj0@D><WgV}E65>I{O(D-Jbo*}od3%tSQy&)>?%qZgS+q+Nm#x`+!0{G`EWt7f(E4mPHcGh_MBa^L=2;vs|e5dlHIYC"
    b"n%DD0<f8NP5Ug+$48!q%-HdTAf1}Zf;L&Jm`(4jr9(K8rlw3p;p%xXH$;C=4t9JM;mEq?f3@yS1^D+4FV7?-Nfqh{_2r8@q<Kedn5UI`$FEQ4s"
    b"y*$WX7AJf0xV4*1359#>DAr*v#dExX>dN+_5<hyQd3e_b2ihV&+*oZ(JC^QS+O_n+(w?P<mU?bEdF52XJ;Xze{n~ZB{iDD01y(p7!?0Ijy65hy"
    b"WcuyRyVw2qYtF=(HQ`R=rs+4DN26YoHkxo%XNIYvHlaZI36rS+xjj6<KY2<UMdPoY%`(UDFZ!oz_qNt={|iw)pVyq)ABtt%a;-PGuN(Es`=<{c"
    b"qUIj_49v%mkoyVed!<n"
)
# [x, gammaln(x)], as `pickle` wrote it then
PICKLED = (
    b"c${@oO=}x55Vf1N6Q{H^ZJ;T%WsmV?1102CdNJ+A#fK*J7KC;!ua;;fp_Q^Wq>vnvUUbX!Z}m5Iq_ruARv?%+Uz+zux5=;HPkQlO!m)p+ih>D6"
    b"N<%fzER&5gO?FL9MRUQxKfj2s?;FP>jPGFf11t9lbyg8cYX&nv=nUUqf=`I0CHjV><;<Y-_0}WWsB0#vEHE-WSI!jcwxR3Zq7tlY_4LHn`lP=4"
    b"km(g>ib^u6U^>7YCktCC34ZTmt>#X!PvCMtsN|e2!!W9q%%G9jmBvnQ{z<Zn?RNw(0(b<!yAX=nvs0Me!vlN+_W-#++N!TirmNx#=P5CtC}*{^"
    b"Sj$s?K-$W3!fI_-M5;M!(0>Vhhfb0{Dh`t*2oFE8b6~rpbc1pKcIyFjW=ycUtr~^^S$<xlzdDVYf(mL#2&ezA?y_)==h67G5iT$-X<btx;U0(a"
    b"yOq>};wHvOiOf|&2>7F~s>H=xUZ-l2-o%3A<@hGUkw{!PX7MwZQ$Gl51}^+P^+RQG@ew76V&jOOb<^_~{D8ll4*4s77>X04+6E?vz4hs@Z`8_<"
    b"f{-bGsVLQG^EU%>`Ls9f1vOdr2PeN1O8"
)
READ = """
import base64, io, zlib
import numpy as np
import scipy.special
import occelo_graph as og

content = zlib.decompress(base64.b85decode({text!r}))
points = {{"k": np.array([0.5, 3.0]), "x": np.array([0.25, 4.0])}}
graph = og.load(io.BytesIO(content))
found = og.evaluate(graph.outputs[0], {{v: points[v.name] for v in graph.inputs}})
k, x, h = points["k"], points["x"], 1e-6
slope = (scipy.special.gammainc(k + h, x) - scipy.special.gammainc(k - h, x)) / (2 * h)
expected = scipy.special.gammaln(x) + slope
np.testing.assert_allclose(found, expected, rtol=1e-8)
"""


def test_files_of_before_are_read_by_a_process_that_has_imported_the_core_alone() -> None:
    program = READ.format(text=SAVED)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr


def test_pickles_of_before_are_refused_by_the_number_of_their_format() -> None:
    with pytest.raises(pickle.UnpicklingError, match="has format 1, and this version"):
        pickle.loads(zlib.decompress(base64.b85decode(PICKLED)))


def test_a_key_has_the_sources_of_the_family_if_its_functions_occur() -> None:
    x = ot.dvector("x")
    for output, occurs in ((sp.gammaln(x), True), (sp.logit(x), True), (ot.erf(x), False)):
        key = oc.function([x], output).maker.cache_key
        assert key is not None
        assert ("sources of special" in key) == occurs


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (scipy.special.gammaln, sp.gammaln),
        (scipy.special.xlogy, sp.xlogy),
        (scipy.special.i0, sp.i0),
    ],
)
def test_functions_of_scipy_build_graphs(theirs: Any, ours: Any) -> None:
    x = ot.dvector("x")
    given = [x, 2.0] if ours is sp.xlogy else [x]
    assert theirs(*given).owner.op is ours
    with pytest.raises(TypeError, match=r"numpy.i0 cannot be applied .*; use occelo.tensor.i0"):
        np.i0(x)
    with pytest.raises(TypeError, match="isnat cannot be applied"):
        np.isnat(x)


@pytest.mark.parametrize("factor", [None, 3.0])
def test_logarithms_of_bessel_functions_neither_underflow_nor_overflow(
    factor: float | None,
) -> None:
    x = ot.dvector("x")
    points = [0.5, 30.0, 800.0]
    for ours, exact in ((sp.kv, mpmath.besselk), (sp.iv, mpmath.besseli)):
        inner = ours(1.5, x) if factor is None else factor * ours(1.5, x)
        found = oc.function([x], ot.log(inner))(points)
        expected = [float(mpmath.log((factor or 1) * exact(1.5, p))) for p in points]
        np.testing.assert_allclose(found, expected, rtol=1e-13)
