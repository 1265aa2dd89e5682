/* The loops of the benchmarks in C, as one would write them by hand; REAL is double or float.

   Each function gets the addresses of its arguments and then those of its results. Sizes are those of `loops.py`.
   `cc -O3 -march=native` compiles it. */
#include <math.h>
#include <string.h>

#define STEPS 10000

typedef REAL real;

#define EXP(x) (sizeof(real) == 4 ? (real)expf(x) : (real)exp(x))
#define LOG(x) (sizeof(real) == 4 ? (real)logf(x) : (real)log(x))
#define SQRT(x) (sizeof(real) == 4 ? (real)sqrtf(x) : (real)sqrt(x))
#define TANH(x) (sizeof(real) == 4 ? (real)tanhf(x) : (real)tanh(x))

void ar1(const real *phi, const real *start, const real *restrict noise, real *restrict out)
{
    real y = *start, p = *phi;
    for (int t = 0; t < STEPS; t++)
        out[t] = y = p * y + noise[t];
}

void ar1_gradient(const real *phi, const real *start, const real *restrict noise, real *cost, real *of_phi,
                  real *restrict of_noise)
{
    real y = *start, p = *phi, total = 0, sum = 0, back = 0;
    /* the states lie where the derivatives with respect to the noise are to be */
    for (int t = 0; t < STEPS; t++) {
        of_noise[t] = y = p * y + noise[t];
        total += y * y;
    }
    for (int t = STEPS - 1; t >= 0; t--) {
        real before = t ? of_noise[t - 1] : *start;
        back = 2 * of_noise[t] + p * back;
        sum += back * before;
        of_noise[t] = back;
    }
    *cost = total;
    *of_phi = sum;
}

void ar3(const real *p1, const real *p2, const real *p3, const real *start, const real *restrict noise,
         real *restrict out)
{
    real a = *p1, b = *p2, c = *p3, y1 = *start, y2 = *start, y3 = *start;
    for (int t = 0; t < STEPS; t++) {
        real y = a * y1 + b * y2 + c * y3 + noise[t];
        out[t] = y;
        y3 = y2;
        y2 = y1;
        y1 = y;
    }
}

void ar3_gradient(const real *p1, const real *p2, const real *p3, const real *start, const real *restrict noise,
                  real *cost, real *of_p1, real *of_p2, real *of_p3, real *restrict of_noise)
{
    real a = *p1, b = *p2, c = *p3, total = 0, sum1 = 0, sum2 = 0, sum3 = 0, c1 = 0, c2 = 0, c3 = 0;
    ar3(p1, p2, p3, start, noise, of_noise);
    for (int t = 0; t < STEPS; t++)
        total += of_noise[t] * of_noise[t];
    for (int t = STEPS - 1; t >= 0; t--) {
        real back = 2 * of_noise[t] + a * c1 + b * c2 + c * c3;
        sum1 += back * (t > 0 ? of_noise[t - 1] : *start);
        sum2 += back * (t > 1 ? of_noise[t - 2] : *start);
        sum3 += back * (t > 2 ? of_noise[t - 3] : *start);
        c3 = c2;
        c2 = c1;
        c1 = of_noise[t] = back;
    }
    *cost = total;
    *of_p1 = sum1;
    *of_p2 = sum2;
    *of_p3 = sum3;
}

void logistic_map(const real *rate, const real *start, const real *restrict more, real *restrict out)
{
    real x = *start, r = *rate;
    for (int t = 0; t < STEPS; t++)
        out[t] = x = r * x * (1 - x) + more[t];
}

void logistic_map_gradient(const real *rate, const real *start, const real *restrict more, real *cost, real *of_rate,
                           real *of_start)
{
    static real trace[STEPS];
    real r = *rate, total = 0, sum = 0, back = 0;
    logistic_map(rate, start, more, trace);
    for (int t = 0; t < STEPS; t++)
        total += trace[t] * trace[t];
    for (int t = STEPS - 1; t >= 0; t--) {
        real x = t ? trace[t - 1] : *start;
        back += 2 * trace[t];
        sum += back * x * (1 - x);
        back *= r * (1 - 2 * x);
    }
    *cost = total;
    *of_rate = sum;
    *of_start = back;
}

static void slope(const real *rates, const real *s, real *d)
{
    real fresh = rates[0] * s[0] * s[2], ill = rates[1] * s[1], well = rates[2] * s[2];
    d[0] = -fresh;
    d[1] = fresh - ill;
    d[2] = ill - well;
}

void seir(const real *rates, const real *start, const real *restrict counts, real *restrict out)
{
    real s[3] = {start[0], start[1], start[2]}, k[4][3], m[3], dt = rates[3];
    for (int t = 0; t < 2000; t++) {
        slope(rates, s, k[0]);
        for (int j = 1; j < 4; j++) {
            real h = j < 3 ? dt / 2 : dt;
            for (int i = 0; i < 3; i++)
                m[i] = s[i] + h * k[j - 1][i];
            slope(rates, m, k[j]);
        }
        for (int i = 0; i < 3; i++)
            s[i] += dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        out[t] = s[2] - counts[t];
    }
}

#define N 16

void hmm(const real *restrict move, const real *first, const real *zero, const real *restrict seen, real *out)
{
    real alpha[N], after[N], likelihood = *zero;
    memcpy(alpha, first, sizeof alpha);
    for (int t = 0; t < 500; t++) {
        real total = 0;
        for (int j = 0; j < N; j++)
            after[j] = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                after[j] += alpha[i] * move[i * N + j];
        for (int j = 0; j < N; j++)
            total += after[j] *= seen[t * N + j];
        for (int j = 0; j < N; j++)
            alpha[j] = after[j] / total;
        likelihood += LOG(total);
    }
    *out = likelihood;
}

#define S 4

void kalman_filter(const real *mean, const real *cov, const real *zero, const real *restrict move,
                   const real *restrict q_root, const real *restrict look, const real *restrict r_root,
                   const real *restrict ys, real *out)
{
    real q[S * S] = {0}, r[4] = {0};
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++)
            for (int k = 0; k < S; k++)
                q[i * S + j] += q_root[i * S + k] * q_root[j * S + k];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                r[i * 2 + j] += r_root[i * 2 + k] * r_root[j * 2 + k];
    real m[S], c[S][S], a[S], b[S][S], p[S][S], lp[2][S], total = *zero;
    memcpy(m, mean, sizeof m);
    memcpy(c, cov, sizeof c);
    for (int t = 0; t < 500; t++) {
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        memset(lp, 0, sizeof lp);
        memcpy(p, q, sizeof p);
        for (int i = 0; i < S; i++)
            for (int j = 0; j < S; j++)
                a[i] += move[i * S + j] * m[j];
        for (int i = 0; i < S; i++)
            for (int k = 0; k < S; k++)
                for (int j = 0; j < S; j++)
                    b[i][j] += move[i * S + k] * c[k][j];
        for (int i = 0; i < S; i++)
            for (int j = 0; j < S; j++)
                for (int k = 0; k < S; k++)
                    p[i][j] += b[i][k] * move[j * S + k];
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < S; k++)
                for (int j = 0; j < S; j++)
                    lp[i][j] += look[i * S + k] * p[k][j];
        real v[2][2], e[2];
        for (int i = 0; i < 2; i++) {
            e[i] = ys[2 * t + i];
            for (int k = 0; k < S; k++)
                e[i] -= look[i * S + k] * a[k];
            for (int j = 0; j < 2; j++) {
                v[i][j] = r[2 * i + j];
                for (int k = 0; k < S; k++)
                    v[i][j] += lp[i][k] * look[j * S + k];
            }
        }
        real l00 = SQRT(v[0][0]), l10 = v[1][0] / l00, l11 = SQRT(v[1][1] - l10 * l10);
        real z0 = e[0] / l00, z1 = (e[1] - l10 * z0) / l11;
        for (int j = 0; j < S; j++) {
            lp[0][j] /= l00;
            lp[1][j] = (lp[1][j] - l10 * lp[0][j]) / l11;
        }
        total += (real)-0.5 * (z0 * z0 + z1 * z1) - LOG(l00) - LOG(l11);
        for (int i = 0; i < S; i++) {
            m[i] = a[i] + lp[0][i] * z0 + lp[1][i] * z1;
            for (int j = 0; j < S; j++)
                c[i][j] = p[i][j] - lp[0][i] * lp[0][j] - lp[1][i] * lp[1][j];
        }
    }
    *out = total;
}

#define T 200
#define B 32
#define W 64

/* c = c + a b for a of n x W and b of W x columns */
static void product(int n, int columns, const real *restrict a, const real *restrict b, real *restrict c)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < W; k++)
            for (int j = 0; j < columns; j++)
                c[i * columns + j] += a[i * W + k] * b[k * columns + j];
}

static void biased(int columns, const real *restrict bias, real *restrict c)
{
    for (int i = 0; i < B; i++)
        memcpy(c + i * columns, bias, columns * sizeof(real));
}

static real sigmoid(real x)
{
    return 1 / (1 + EXP(-x));
}

void rnn(const real *xs, const real *u, const real *w, const real *bias, const real *start, real *h)
{
    static real a[B * W];
    memcpy(h, start, sizeof a);
    for (int t = 0; t < T; t++) {
        biased(W, bias, a);
        product(B, W, xs + t * B * W, u, a);
        product(B, W, h, w, a);
        for (int i = 0; i < B * W; i++)
            h[i] = TANH(a[i]);
    }
}

void gru(const real *xs, const real *u, const real *w, const real *bias, const real *start, real *h)
{
    static real a[B * 3 * W], b[B * 3 * W];
    memcpy(h, start, B * W * sizeof(real));
    for (int t = 0; t < T; t++) {
        biased(3 * W, bias, a);
        product(B, 3 * W, xs + t * B * W, u, a);
        memset(b, 0, sizeof b);
        product(B, 3 * W, h, w, b);
        for (int i = 0; i < B; i++)
            for (int j = 0; j < W; j++) {
                const real *x = a + i * 3 * W + j, *y = b + i * 3 * W + j;
                real update = sigmoid(x[0] + y[0]), reset = sigmoid(x[W] + y[W]);
                real fresh = TANH(x[2 * W] + reset * y[2 * W]);
                h[i * W + j] = update * h[i * W + j] + (1 - update) * fresh;
            }
    }
}

void lstm(const real *xs, const real *u, const real *w, const real *bias, const real *start, const real *cell, real *h)
{
    static real a[B * 4 * W], c[B * W];
    memcpy(h, start, sizeof c);
    memcpy(c, cell, sizeof c);
    for (int t = 0; t < T; t++) {
        biased(4 * W, bias, a);
        product(B, 4 * W, xs + t * B * W, u, a);
        product(B, 4 * W, h, w, a);
        for (int i = 0; i < B; i++)
            for (int j = 0; j < W; j++) {
                const real *x = a + i * 4 * W + j;
                real keep = sigmoid(x[0]), enter = sigmoid(x[W]), leave = sigmoid(x[2 * W]);
                c[i * W + j] = keep * c[i * W + j] + enter * TANH(x[3 * W]);
                h[i * W + j] = leave * TANH(c[i * W + j]);
            }
    }
}

#define D 8

static void force(const real *restrict couple, const real *restrict q, real *restrict f)
{
    for (int i = 0; i < D; i++) {
        f[i] = -q[i] * q[i] * q[i];
        for (int j = 0; j < D; j++)
            f[i] -= couple[i * D + j] * q[j];
    }
}

void leapfrog(const real *start, const real *speed, const real *couple, const real *step, const real *kicks, real *q,
              real *p)
{
    real f[D], h = *step;
    memcpy(q, start, sizeof f);
    memcpy(p, speed, sizeof f);
    for (int t = 0; t < 1000; t++) {
        force(couple, q, f);
        for (int i = 0; i < D; i++) {
            p[i] += h / 2 * f[i];
            q[i] += h * p[i];
        }
        force(couple, q, f);
        for (int i = 0; i < D; i++)
            p[i] += h / 2 * f[i] + kicks[t];
    }
}

void minibatches(const real *start, const real *speed, const real *rate, const real *x, const real *y,
                 const long long *order, real *w)
{
    enum { n = 20, batch = 32 };
    real v[n], slope[n];
    memcpy(w, start, sizeof v);
    memcpy(v, speed, sizeof v);
    for (int t = 0; t < 320; t++) {
        const real *rows = x + order[t] * batch * n, *labels = y + order[t] * batch;
        memset(slope, 0, sizeof slope);
        for (int i = 0; i < batch; i++) {
            real z = 0;
            for (int j = 0; j < n; j++)
                z += rows[i * n + j] * w[j];
            z = sigmoid(z) - labels[i];
            for (int j = 0; j < n; j++)
                slope[j] += rows[i * n + j] * z;
        }
        for (int j = 0; j < n; j++) {
            v[j] = (real)0.9 * v[j] - *rate * (slope[j] / batch + (real)0.01 * w[j]);
            w[j] += v[j];
        }
    }
}

void nested_sums(const real *start, const real *zero, const real *a, const real *restrict x, real *restrict out)
{
    real state = *start;
    for (int t = 0; t < 100; t++) {
        real total = *zero;
        for (int j = 0; j < 100; j++) {
            real z = a[t] * x[j] + state;
            total += z / (1 + z * z);
        }
        out[t] = total;
        state = total / 100;
    }
}
