data { int K; int T; vector[T] y; }
transformed data {
  matrix[T - K, K] lags;
  for (j in 1:K) lags[:, j] = y[(K - j + 1):(T - j)];
}
parameters { real alpha; vector[K] beta; real<lower=0> sigma; }
model {
  alpha ~ normal(0, 10);
  beta ~ normal(0, 10);
  sigma ~ cauchy(0, 2.5);
  y[(K + 1):T] ~ normal_id_glm(lags, alpha, beta, sigma);
}
