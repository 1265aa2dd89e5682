"""Table of the LAPACK routines that loop programs call, with the role of each argument.

From the table, `occelo_linalg.lowerings.lapack` learns how to pass arguments, and `extents` which memory a call accesses. The
routines are documented in the LAPACK Users' Guide, https://netlib.org/lapack/explore-html/.
"""

from __future__ import annotations

import re
from functools import cached_property

from occelo_graph.frozen_dataclasses import frozen_dataclass


@frozen_dataclass
class Argument:
    """An argument of a routine: a letter, an integer, or an array of elements.

    ``kind`` is "letter", "integer", "array" (elements of the routine's dtype), "real" (real numbers of the same
    precision, such as float32 for a routine of complex64) or "integers".

    ``extent`` describes an array: its height, its leading dimension, and its number of columns. Each of them is a
    number, the name of an integer argument, or two names (``m&n``), of which the smaller value counts. ``written`` says
    whether the routine writes the argument. ``wanted`` is the name of a letter argument: if this letter is N, the
    routine does not access the array. ``wanted`` is empty for an array that is always accessed.
    """

    name: str
    kind: str
    extent: tuple[str, str, str] = ("1", "1", "1")
    written: bool = False
    wanted: str = ""


@frozen_dataclass
class Routine:
    """A routine and its arguments. Its ``name`` does not include the letter of the dtype.

    ``text`` lists the arguments in order. Letters have names in capitals. An array is a name and an extent, with these
    marks:

    - ``[height,leading,width]`` or ``[length]``: the extent;
    - ``real:`` or ``int:`` before the name: the elements are real numbers or integers, not of the routine's dtype;
    - ``!`` after the extent: the routine writes the array;
    - ``~JOB`` at the end: the letter with this name says whether the array is accessed.
    """

    name: str
    text: str

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments in order."""
        return tuple(map(_argument, self.text.replace(", ", ",").split()))


def _argument(word: str) -> Argument:
    kind, _, rest = word.rpartition(":")
    rest, _, wanted = rest.partition("~")
    written = rest.endswith("!")
    name, bracket, inside = rest.removesuffix("!").partition("[")
    if not bracket:
        kind = "letter" if name.isupper() else "integer"
        return Argument(name.lower(), kind, written=written)
    lengths = inside.rstrip("]").split(",")
    height, leading, width = lengths if len(lengths) == 3 else (*lengths, "1", "1")
    kinds = {"": "array", "real": "real", "int": "integers"}
    return Argument(name, kinds[kind], (height, leading, width), written, wanted.lower())


_TABLE = """
potrf: UPLO n a[n,lda,n]! lda int:info[1]!
syevd: JOBZ UPLO n a[n,lda,n]! lda w[n]! work[lwork]! lwork int:iwork[liwork]! liwork int:info[1]!
heevd: JOBZ UPLO n a[n,lda,n]! lda real:w[n]! work[lwork]! lwork real:rwork[lrwork]! lrwork int:iwork[liwork]! liwork
    int:info[1]!
# no arguments have the lengths of the last working arrays; they follow from the lengths of the matrix
gesdd: JOBZ m n a[m,lda,n]! lda s[m&n]! u[m,ldu,m&n]!~JOBZ ldu vt[m&n,ldvt,n]!~JOBZ ldvt work[lwork]! lwork
    int:iwork[m&n]! int:info[1]!
complex gesdd: JOBZ m n a[m,lda,n]! lda real:s[m&n]! u[m,ldu,m&n]!~JOBZ ldu vt[m&n,ldvt,n]!~JOBZ ldvt work[lwork]!
    lwork real:rwork[m&n]! int:iwork[m&n]! int:info[1]!
geqrf: m n a[m,lda,n]! lda tau[m&n]! work[lwork]! lwork int:info[1]!
orgqr: m n k a[m,lda,n]! lda tau[k] work[lwork]! lwork int:info[1]!
ungqr: m n k a[m,lda,n]! lda tau[k] work[lwork]! lwork int:info[1]!
geqp3: m n a[m,lda,n]! lda int:jpvt[n]! tau[m&n]! work[lwork]! lwork int:info[1]!
complex geqp3: m n a[m,lda,n]! lda int:jpvt[n]! tau[m&n]! work[lwork]! lwork real:rwork[n]! int:info[1]!
geev: JOBVL JOBVR n a[n,lda,n]! lda wr[n]! wi[n]! vl[n,ldvl,n]!~JOBVL ldvl vr[n,ldvr,n]!~JOBVR ldvr work[lwork]! lwork
    int:info[1]!
complex geev: JOBVL JOBVR n a[n,lda,n]! lda w[n]! vl[n,ldvl,n]!~JOBVL ldvl vr[n,ldvr,n]!~JOBVR ldvr work[lwork]! lwork
    real:rwork[n]! int:info[1]!
# if eigenvalues are not sorted, gees and gges access neither ``select`` nor the last working array
gees: JOBVS SORT int:select[1] n a[n,lda,n]! lda int:sdim[1]! wr[n]! wi[n]! vs[n,ldvs,n]!~JOBVS ldvs work[lwork]! lwork
    int:bwork[1] int:info[1]!
complex gees: JOBVS SORT int:select[1] n a[n,lda,n]! lda int:sdim[1]! w[n]! vs[n,ldvs,n]!~JOBVS ldvs work[lwork]! lwork
    real:rwork[n]! int:bwork[1] int:info[1]!
trsen: JOB COMPQ int:select[n] n t[n,ldt,n]! ldt q[n,ldq,n]! ldq wr[n]! wi[n]! int:m[1]! real:s[1]! real:sep[1]!
    work[lwork]! lwork int:iwork[liwork]! liwork int:info[1]!
complex trsen: JOB COMPQ int:select[n] n t[n,ldt,n]! ldt q[n,ldq,n]! ldq w[n]! int:m[1]! real:s[1]! real:sep[1]!
    work[lwork]! lwork int:info[1]!
gges: JOBVSL JOBVSR SORT int:selctg[1] n a[n,lda,n]! lda b[n,ldb,n]! ldb int:sdim[1]! alphar[n]! alphai[n]! beta[n]!
    vsl[n,ldvsl,n]!~JOBVSL ldvsl vsr[n,ldvsr,n]!~JOBVSR ldvsr work[lwork]! lwork int:bwork[1] int:info[1]!
complex gges: JOBVSL JOBVSR SORT int:selctg[1] n a[n,lda,n]! lda b[n,ldb,n]! ldb int:sdim[1]! alpha[n]! beta[n]!
    vsl[n,ldvsl,n]!~JOBVSL ldvsl vsr[n,ldvsr,n]!~JOBVSR ldvsr work[lwork]! lwork real:rwork[n]! int:bwork[1]
    int:info[1]!
tgsen: ijob wantq wantz int:select[n] n a[n,lda,n]! lda b[n,ldb,n]! ldb alphar[n]! alphai[n]! beta[n]! q[n,ldq,n]! ldq
    z[n,ldz,n]! ldz int:m[1]! real:pl[1]! real:pr[1]! real:dif[2]! work[lwork]! lwork int:iwork[liwork]! liwork
    int:info[1]!
complex tgsen: ijob wantq wantz int:select[n] n a[n,lda,n]! lda b[n,ldb,n]! ldb alpha[n]! beta[n]! q[n,ldq,n]! ldq
    z[n,ldz,n]! ldz int:m[1]! real:pl[1]! real:pr[1]! real:dif[2]! work[lwork]! lwork int:iwork[liwork]! liwork
    int:info[1]!
trsyl: TRANA TRANB isgn m n a[m,lda,m] lda b[n,ldb,n] ldb c[m,ldc,n]! ldc real:scale[1]! int:info[1]!
gebal: JOB n a[n,lda,n]! lda int:ilo[1]! int:ihi[1]! real:scale[n]! int:info[1]!
trtrs: UPLO TRANS DIAG n nrhs a[n,lda,n] lda b[n,ldb,nrhs]! ldb int:info[1]!
# getrf writes min(m, n) pivots, but callers allocate m
getrf: m n a[m,lda,n]! lda int:ipiv[m]! int:info[1]!
getri: n a[n,lda,n]! lda int:ipiv[n] work[lwork]! lwork int:info[1]!
getrs: TRANS n nrhs a[n,lda,n] lda int:ipiv[n] b[n,ldb,nrhs]! ldb int:info[1]!
gesv: n nrhs a[n,lda,n]! lda int:ipiv[n]! b[n,ldb,nrhs]! ldb int:info[1]!
gbsv: n kl ku nrhs ab[ldab,ldab,n]! ldab int:ipiv[n]! b[n,ldb,nrhs]! ldb int:info[1]!
# the diagonals next to the main diagonal are shorter than n, but callers allocate n elements for each
gttrf: n dl[n]! d[n]! du[n]! du2[n]! int:ipiv[n]! int:info[1]!
gttrs: TRANS n nrhs dl[n] d[n] du[n] du2[n] int:ipiv[n] b[n,ldb,nrhs]! ldb int:info[1]!
pbsv: UPLO n kd nrhs ab[ldab,ldab,n]! ldab b[n,ldb,nrhs]! ldb int:info[1]!
posv: UPLO n nrhs a[n,lda,n]! lda b[n,ldb,nrhs]! ldb int:info[1]!
sysv: UPLO n nrhs a[n,lda,n]! lda int:ipiv[n]! b[n,ldb,nrhs]! ldb work[lwork]! lwork int:info[1]!
hesv: UPLO n nrhs a[n,lda,n]! lda int:ipiv[n]! b[n,ldb,nrhs]! ldb work[lwork]! lwork int:info[1]!
"""
"""A row for each routine: its name and its `Routine.text`. Rows may have several lines."""


def _routines() -> dict[str, Routine]:
    rows = re.sub(r"#.*\n", "", _TABLE).replace("\n    ", " ").strip().split("\n")
    pairs = [row.split(": ", 1) for row in rows]
    return {name: Routine(name, text) for name, text in pairs}


ROUTINES = _routines()
"""Maps names to routines. A routine with other arguments for complex matrices has a second key, such as "complex geev".
"""


def find_routine(letter: str, name: str) -> Routine | None:
    """The routine ``name`` for a dtype, which ``letter`` names: s (float32), d (float64), c (complex64) or z
    (complex128).
    """
    own = ROUTINES.get(f"complex {name}") if letter in "cz" else None
    return own or ROUTINES.get(name)


def routine_of(entry: str) -> Routine | None:
    """The routine of an entry of a program's table, such as ``lapack:dpotrf``. None for an entry that is not of LAPACK.

    Raises NotImplementedError for a LAPACK routine that is not in `ROUTINES`.
    """
    kind, _, function = entry.partition(":")
    if kind != "lapack":
        return None
    routine = find_routine(function[0], function[1:])
    if routine is None:
        raise NotImplementedError(f"{entry} is not in the table of LAPACK routines")
    return routine
