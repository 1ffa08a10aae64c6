// What authorities and the way to them say, as a sentence about what to do.

interface Remedy {
  readonly says: RegExp;
  readonly fix: string;
}

/** In this order; the first that fits. */
const remedies: readonly Remedy[] = [
  {
    says: /too many|rate.?limit/i,
    fix: 'The limit of the authority is reached. Nothing is to be done but to wait; order fewer, larger certificates.',
  },
  {
    says: /no data-plane node/i,
    fix: 'Start a node, and look under Nodes whether the control plane reaches it.',
  },
  {
    says: /external.?account|EAB/i,
    fix: 'The authority wants an account of its own: set ACME_EAB to the key id and HMAC key that it gave you.',
  },
  {
    says: /\bCAA\b/,
    fix: 'A CAA record of the domain forbids this authority: add it there, or choose another directory.',
  },
  {
    says: /contact|email/i,
    fix: 'The authority does not take the e-mail address: set ACME_EMAIL to one that it can reach.',
  },
  {
    says: /ACME_DNS_HOOK|dns-01/i,
    fix: 'Run the program of ACME_DNS_HOOK by hand and see that the TXT record appears at the name servers.',
  },
  {
    says: /NXDOMAIN|no (valid|such) (IP|A|host)|DNS problem|SERVFAIL|looking up/i,
    fix: 'Add an A or AAAA record for the name that leads to the data plane, and wait until it is known everywhere.',
  },
  {
    says: /SELF_SIGNED|DEPTH_ZERO|self.signed|unable to (verify|get)|UNABLE_TO|certificate has expired/i,
    fix: 'The certificate of the directory itself is not believed: name its authority in ACME_CA_FILE.',
  },
  {
    says: /\bE(CONN|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUN|NETUN)|timeout of|TimeoutError|error \d{3}|to the directory/,
    fix:
      'The directory cannot be reached from the control plane: look at name resolution, outgoing connections to port ' +
      '443, and the status page of the authority.',
  },
  {
    says: /connection|connect|timed? ?out|timeout|fetching|tls|unauthorized|invalid response|key authorization/i,
    fix:
      'The authority has to reach the data plane under this name: port 80 for http-01, port 443 for tls-alpn-01, ' +
      'from the internet, without a redirect to another server in front.',
  },
  {
    says: /rejectedIdentifier|policy|forbid|not allowed/i,
    fix: 'The authority does not issue for this name: choose another directory, or upload a certificate of your own.',
  },
];

/** For people, in the words of the console. Never empty. */
export const fixOf = (error: string): string =>
  remedies.find(({ says }) => says.test(error))?.fix ??
  'Look at what the authority said; upload a certificate of your own where it has to go on at once.';
