data {
  int n;
  int k;
  matrix[n, k] x;
  array[n] int y;
}
parameters {
  vector[k] beta;
}
model {
  beta ~ normal(0, 2);
  y ~ bernoulli_logit_glm(x, 0, beta);
}
