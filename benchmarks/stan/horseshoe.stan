data {
  int n;
  int k;
  matrix[n, k] x;
  vector[n] y;
}
parameters {
  real<lower=0> tau;
  vector<lower=0>[k] lam;
  vector[k] z;
  real<lower=0> s;
}
model {
  tau ~ cauchy(0, 1);
  lam ~ cauchy(0, 1);
  z ~ std_normal();
  s ~ normal(0, 1);
  y ~ normal_id_glm(x, 0, z .* lam * tau, s);
}
