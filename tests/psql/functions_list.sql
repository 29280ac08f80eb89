\df lower
\df abs
\df pg_catalog.substr*
\da sum
\dT numeric
\dT+ bool
\do ||
