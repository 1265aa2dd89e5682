"""The regularized incomplete gamma functions on JAX and PyTorch, to about 1e-13 wherever they are normal numbers.

Their own lose digits: for large k in proportion to k, and the upper one for small k. `functions` puts these into its
table. Where x is near a large k, Temme's uniform expansion is used (DLMF 8.12); below, the power series; above, the
continued fraction; and for small k and x, the series of the upper function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from occelo_link.traced.traced_values import Array

Library = Any
"""A namespace of JAX or PyTorch, as `functions` describes it: this module uses ``xp``, ``special`` and ``loop``."""

LARGE = 10.0
"""From here on, Stirling's series has all digits."""
_NEAR = 0.35
"""For k from `LARGE` on, x is near k if it differs by less than this part of k."""
_STEPS = 1000
"""A bound of the steps of series and fractions, which need at most about 150."""
_EULER = 0.5772156649015329
STIRLING = (1/12, -1/360, 1/1260, -1/1680, 1/1188, -691/360360, 1/156)  # fmt: skip
"""Coefficients of 1/a, 1/a^3, ... in Stirling's series (DLMF 5.11.1)."""

# fmt: off
_TEMME: tuple[tuple[float, ...], ...] = (
    (-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11, -5.830772132550426e-11, 2.4361948020667415e-11, -5.0276692801141755e-12, 1.1004392031956135e-13, 3.371763262400985e-13, -1.392388722418162e-13, 2.8534893807047445e-14, -5.139111834242572e-16),
    (-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596, 0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08, 1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09, 4.162792991842583e-10, -8.56390702649298e-11, 6.067215101604758e-14, 7.1624989648114856e-12, -2.933186643771437e-12, 5.996696365683689e-13, -2.1671786527323313e-16, -4.978339972369262e-14, 2.0291628823713425e-14),
    (0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06, -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10, -1.409252991086752e-08, 6.228974084922022e-09, -1.3670488396617114e-09, 9.428356159014678e-13, 1.2872252400089318e-10, -5.5645956134363323e-11, 1.197593554636698e-11, -4.1689782251838634e-15, -1.0940640427884595e-12, 4.662239946390136e-13, -9.905105763906907e-14, 1.8931876768373515e-17),
    (0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06, -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08, -1.9111168485973655e-08, 2.3928620439808118e-12, 2.0620131815488797e-09, -9.460496661855133e-10, 2.1541049775774907e-10, -1.388823336813903e-14, -2.1894761681963938e-11, 9.790998951171684e-12, -2.178219188018096e-12, 6.208819573407901e-17, 2.126978363279737e-13, -9.344688791517433e-14),
    (-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06, 8.907507532205309e-07, -2.292934834000805e-07, 2.956794137544049e-11, 2.8865829742708783e-08, -1.4189739437803219e-08, 3.4463580499464896e-09, -2.3024517174528067e-13, -3.9409233028046403e-10, 1.86023389685045e-10, -4.356323005056618e-11, 1.278600101629623e-15, 4.67927502665792e-12, -2.149246470613483e-12, 4.908815614809652e-13, -6.33859148489156e-18),
    (-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847, 6.797780477937208e-05, 1.419062920643967e-07, -1.3594048189768693e-05, 8.018470256334202e-06, -2.291481176508095e-06, -3.252473551298454e-10, 3.4652846491085265e-07, -1.8447187191171344e-07, 4.8240967037894184e-08, -1.7989466721743514e-14, -6.306194500013523e-09, 3.162417628774568e-09, -7.840924253697429e-10, 5.192679165254041e-15, 9.358944242306784e-11, -4.513426216163278e-11, 1.0799129993116828e-11, -3.661886712685252e-17, -1.210902069055155e-12, 5.680743584990564e-13),
    (0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07, -8.153969367561969e-05, 5.61168275310625e-05, -1.8329116582843375e-05, -3.0796134506033047e-09, 3.465155368803609e-06, -2.0291327396058603e-06, 5.788792863149004e-07, 2.338630673826657e-13, -8.828600746330484e-08, 4.7435958880408125e-08, -1.2545415020710383e-08, 8.649648858010293e-14, 1.6846058979264062e-09, -8.575492823577594e-10, 2.1598224929232125e-10, -7.613230520476153e-16, -2.6639822008536144e-11, 1.3065700536611057e-11, -3.1799163902367977e-12, 4.710976121367431e-18),
    (0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234, 0.0002812695154763237, -0.00010976582244684731, -1.2741009095484485e-07, 2.7744451511563645e-05, -1.8263488805711332e-05, 5.7876949497350525e-06, 4.93875893393627e-10, -1.0595367014026043e-06, 6.166714376110408e-07, -1.7562973359060463e-07, -1.297447328701544e-12, 2.695423606288966e-08, -1.4578352908731272e-08, 3.887645959386175e-09, -3.881002251019412e-17, -5.327994173877286e-10, 2.7437977643314844e-10, -6.995796092070568e-11, 2.589986387486848e-17, 8.856689099669639e-12, -4.403168815871311e-12),
    (-0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721, -6.969091458420552e-07, 0.00016644846642067547, -0.00012783517679769218, 4.629953263691304e-05, 4.557909867922708e-09, -1.0595271125805195e-05, 6.783342904865167e-06, -2.1075476666258803e-06, -1.7213731432817144e-11, 3.773587741611098e-07, -2.1867506700122867e-07, 6.220228804018927e-08, 6.597703826733e-16, -9.590386497425686e-09, 5.213214492280807e-09, -1.3991589583935709e-09, 5.382058999060575e-16, 1.9484714275467745e-10, -1.0127287556389682e-10, 2.6077347197254926e-11, -5.090418699993299e-18),
    (-0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328, -0.0006401475260262758, 0.00027750107634328704, 1.819700838046515e-07, -8.479507117068503e-05, 6.105192082501531e-05, -2.1073920183404862e-05, -8.858589014125599e-10, 4.5284535953805374e-06, -2.8427815022504407e-06, 8.708234177864641e-07, 3.6886101871706966e-12, -1.534469519070206e-07, 8.862466778790695e-08, -2.5184812301826817e-08, -1.0225912098215092e-14, 3.896947075815478e-09, -2.1267304792235634e-09, 5.737013552805138e-10, -1.8877498501697116e-19, -8.093153869465787e-11, 4.23827232834492e-11),
    (0.0013324454494800656, -0.0019144384985654776, 0.0011089369134596636, 9.9324041226423e-07, -0.0005087450129309319, 0.00042735056665392886, -0.00016858853767910798, -8.1301893922785e-09, 4.5284402370562144e-05, -3.127053674781734e-05, 1.044986828530338e-05, 4.8435226265680926e-11, -2.148256587345626e-06, 1.329369701097492e-06, -4.029569309210103e-07, -1.756787766632329e-13, 7.014504316366825e-08, -4.040787734999483e-08, 1.1474026743371964e-08, 3.964274685356394e-18, -1.7804938269892715e-09, 9.748026254873165e-10, -2.6405338676507616e-10, 5.79487516340376e-18),
    (0.001579727660730835, 0.00016251626278391583, -0.0020633421035543276, 0.00213896861856891, -0.0010108559391263003, -3.99127055299192e-07, 0.0003623502508476469, -0.00028143901463712157, 0.00010449513336495887, 2.12114184918303e-09, -2.5779417251947842e-05, 1.7281818956040464e-05, -5.641377387290428e-06, -1.1024320105776174e-11, 1.1223224418895174e-06, -6.869339637952674e-07, 2.0653236975414888e-07, 4.6714772409838506e-14, -3.5609886164949055e-08, 2.0470855345905963e-08, -5.809173863328336e-09, -1.3328212875828647e-16, 9.035460439133513e-10, -4.959878251733084e-10),
)
# fmt: on
"""The coefficients of eta^n / k^j in Temme's expansion (DLMF 8.12.9 to 8.12.13): a row for each j."""

# fmt: off
_LOG_GAMMA = (
    0.8224670334241132, -0.40068563438653143, 0.27058080842778454, -0.20738555102867398, 0.1695571769974082, -0.1440498967688461, 0.12550966952474304, -0.11133426586956469, 0.1000994575127818, -0.09095401714582904, 0.083353840546109, -0.0769325164113522, 0.07143294629536133, -0.06666870588242046, 0.06250095514121304, -0.058823978658684585, 0.055555767627403614, -0.05263167937961666, 0.05000004769810169, -0.047619070330142226, 0.04545455629320467, -0.04347826605304026, 0.04166666915034121, -0.04000000119214014, 0.03846153903467518, -0.037037037312989324, 0.035714285847333355, -0.034482758684919304, 0.03333333336437758, -0.03225806453115042, 0.03125000000727597, -0.030303030306558044, 0.029411764707594344, -0.02857142857226011, 0.027777777778181998, -0.027027027027223673, 0.02631578947377995, -0.025641025641072283, 0.025000000000022737,
)
# fmt: on
"""The coefficients of k^2, k^3, ... in log(gamma(1 + k)) (DLMF 5.7.3)."""


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    value: Any = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def excess(of: Library, mu: Array, ratio: Array) -> Array:
    """The number mu - log(ratio), which is about half the square of mu if that is small. ``ratio`` is 1 + mu."""
    xp = of.xp
    near = xp.abs(mu) < 0.4
    small = xp.where(near, mu, 0.0)
    # log(1 + w) = 2 arctanh(r) (DLMF 4.6.4)
    r = small / (2.0 + small)
    square = r * r
    series = square * _polynomial(square, tuple(1.0 / (2.0 * n + 1.0) for n in range(1, 14)))
    return xp.where(near, r * (small - 2.0 * series), mu - xp.log(xp.where(near, 1.0, ratio)))


def _excess(of: Library, k: Array, x: Array) -> Array:
    return excess(of, (x - k) / k, x / k)


def stirling_rest(k: Array) -> Array:
    """log(gamma(k)) without the first terms of Stirling's series, those that are not powers of 1 / k, for large k."""
    return _polynomial(1.0 / (k * k), STIRLING) / k


def _log_term(of: Library, k: Array, x: Array) -> Array:
    """The logarithm of x^k exp(-x) / gamma(k)."""
    xp = of.xp
    large = k >= LARGE
    big, small = xp.where(large, k, LARGE), xp.where(large, 1.0, k)
    by_stirling = 0.5 * xp.log(big / (2 * math.pi)) - stirling_rest(big) - big * _excess(of, big, x)
    # gamma(k) = gamma(k + 1) / k
    direct = small * xp.log(x) - x - log_gamma_1p(of, small) + xp.log(small)
    return xp.where(large, by_stirling, direct)


def log_gamma_1p(of: Library, k: Array) -> Array:
    """log(gamma(1 + k)), to all digits for small k."""
    xp = of.xp
    small = k < 0.4
    near = xp.where(small, k, 0.0)
    series = near * (near * _polynomial(near, _LOG_GAMMA) - _EULER)
    return xp.where(small, series, of.special.gammaln(1.0 + xp.where(small, 1.0, k)))


def _by_temme(of: Library, k: Array, x: Array) -> tuple[Array, Array]:
    xp = of.xp
    h = _excess(of, k, x)
    side = xp.sign(x - k)
    eta = side * xp.sqrt(2.0 * h)
    total: Any = 0.0
    for row in reversed(_TEMME):
        total = total / k + _polynomial(eta, row)
    rest = xp.exp(-k * h) / xp.sqrt(2.0 * math.pi * k) * total
    z = side * xp.sqrt(k * h)
    return 0.5 * of.special.erfc(-z) - rest, 0.5 * of.special.erfc(z) + rest


def _lower_series(of: Library, wanted: Array, k: Array, x: Array) -> Array:
    """P(k, x) k gamma(k) / (x^k exp(-x)) where it is wanted, for x up to about k + 1 (DLMF 8.11.4)."""
    xp, eps = of.xp, of.xp.finfo(x.dtype).eps

    def more(state: Any) -> Any:
        n, term, total = state
        return (n < _STEPS) & xp.any(wanted & (term > eps / 8 * total))

    def step(state: Any) -> Any:
        n, term, total = state
        term = term * x / (k + n)
        return n + 1, term, total + term

    one = xp.ones_like(k)
    return of.loop(more, step, (1, one, one))[2]


def _upper_fraction(of: Library, wanted: Array, k: Array, x: Array) -> Array:
    """Q(k, x) gamma(k) / (x^k exp(-x)) where it is wanted, for x above k (DLMF 8.9.2), by Lentz's method."""
    xp, eps = of.xp, of.xp.finfo(x.dtype).eps
    below = x + 1.0 - k

    def more(state: Any) -> Any:
        return (state[0] < _STEPS) & xp.any(wanted & (xp.abs(state[3] - 1.0) > eps))

    def step(state: Any) -> Any:
        n, c, d, _, value = state
        top, under = n * (k - n), below + 2.0 * n
        d = 1.0 / (under + top * d)
        c = under + top / c
        return n + 1, c, d, c * d, value * c * d

    first = 1.0 / below
    start = (1, xp.full_like(x, 1e30), first, xp.zeros_like(x), first)
    return of.loop(more, step, start)[4]


def _upper_series(of: Library, k: Array, x: Array) -> Array:
    """Q(k, x), for small k and x, by the series of 1 - P(k, x) (DLMF 8.7.1)."""
    xp = of.xp
    term, total = xp.ones_like(x), xp.zeros_like(x)
    for n in range(1, 26):
        term = -term * x / n
        total = total + term / (k + n)
    log_power = k * xp.log(x) - log_gamma_1p(of, k)
    return -xp.expm1(log_power) - k * xp.exp(log_power) * total


def _both(of: Library, k: Array, x: Array) -> tuple[Array, Array]:
    """P(k, x) and Q(k, x), for positive and finite k and x."""
    xp = of.xp
    near = (k >= LARGE) & (xp.abs(x - k) < _NEAR * k)
    above = ~near & (x > 1.1) & (x > k)
    low = ~near & (x <= 1.1)
    edge = xp.where(x <= 0.5, -0.4 / xp.log(xp.where(x <= 0.5, x, 0.5)), 1.1 * x)
    small = low & (k <= edge)
    below = ~near & ~above
    scale = xp.exp(_log_term(of, k, x))

    lower, upper = _by_temme(of, xp.where(near, k, 20.0), xp.where(near, x, 20.0))
    fraction = _upper_fraction(of, above, xp.where(above, k, 1.0), xp.where(above, x, 3.0))
    series = _lower_series(of, below, xp.where(below, k, 1.0), xp.where(below, x, 0.5))
    apart = _upper_series(of, xp.where(small, k, 0.5), xp.where(small, x, 0.5))
    upper = xp.where(above, scale * fraction, upper)
    lower = xp.where(below, scale / k * series, lower)
    lower, upper = xp.where(above, 1.0 - upper, lower), xp.where(below, 1.0 - lower, upper)
    return lower, xp.where(small, apart, upper)


def both_incomplete_gammas(of: Library, k: Array, x: Array) -> tuple[Array, Array]:
    """P(k, x) and Q(k, x), for all numbers, with SciPy's values at the ends. The arrays have one shape and dtype."""
    xp = of.xp
    infinite_k, infinite_x = xp.isinf(k), xp.isinf(x)
    at_end = infinite_k | infinite_x | (k == 0) | (x == 0)
    undefined = (infinite_k & infinite_x) | ((k == 0) & (x == 0))
    undefined = undefined | xp.isnan(k + x) | (k < 0) | (x < 0)
    outside = at_end | undefined
    found = _both(of, xp.where(outside, 1.0, k), xp.where(outside, 1.0, x))
    return ends_of_distribution(of, found, infinite_k | (x == 0), at_end, undefined)


def ends_of_distribution(
    of: Library, found: tuple[Array, Array], is_zero: Array, at_end: Array, undefined: Array
) -> tuple[Array, Array]:
    """A distribution function and its complement, with the first 0 or 1 where ``at_end`` is true, and NaN."""
    xp = of.xp
    values: list[Array] = []
    for inside, zero in zip(found, (is_zero, ~is_zero), strict=True):
        limit = xp.where(zero, 0.0, xp.ones_like(inside))
        values.append(xp.where(undefined, math.nan, xp.where(at_end, limit, inside)))
    return values[0], values[1]


def incomplete_gamma_slopes(
    of: Library, needs: Sequence[bool], k: Array, x: Array
) -> list[Array | None]:
    """The derivatives of P(k, x) by k, if the library has it, and by x. None in place of those that are not needed."""
    by_k = of.igamma_grad_a(k, x) if needs[0] and of.igamma_grad_a else None
    return [by_k, of.xp.exp(_log_term(of, k, x) - of.xp.log(x)) if needs[1] else None]
