\dT
\df
\dC nosuch
\db
\dx
\dp
\do nosuch
\da nosuch
\drds
\dD
\dO nosuch
\dc nosuch
\dF nosuch
\dE
\dm
\dy
\des
\dRp
\dRs
\dew
