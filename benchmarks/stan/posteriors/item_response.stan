data { int I; int J; array[I, J] int y; }
parameters {
  real<lower=0> scale_theta; vector[J] theta;
  real<lower=0> scale_a; vector<lower=0>[I] a;
  real mu; real<lower=0> scale_b; vector[I] b;
}
model {
  scale_theta ~ cauchy(0, 2);
  theta ~ normal(0, scale_theta);
  scale_a ~ cauchy(0, 2);
  a ~ lognormal(0, scale_a);
  mu ~ normal(0, 5);
  scale_b ~ cauchy(0, 2);
  b ~ normal(mu, scale_b);
  for (i in 1:I) y[i] ~ bernoulli_logit(a[i] * (theta - b[i]));
}
