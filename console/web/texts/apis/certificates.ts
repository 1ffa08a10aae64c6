// English texts of console/web/pages/certificates.
import { some, type Shown } from '../shown.js';

export const certificatesText = {
  certificates: 'Certificates',
  about: 'TLS certificates that the nodes serve, when they expire, and why an order failed.',
  order: 'Order',
  orderTitle: 'Order a certificate',
  orderAbout:
    'The names must already resolve to the data plane. By ordering you accept the terms of the authority. ' +
    'The certificate is renewed automatically.',
  upload: 'Upload',
  uploadTitle: 'Upload a certificate',
  uploadAbout: 'It replaces a certificate for the same names. The key is stored encrypted and never shown again.',
  names: 'Names',
  namesHelp: 'Host names, separated by spaces or commas',
  namesExample: 'shop.example.com www.shop.example.com',
  challenge: 'Challenge',
  challengeHelp:
    'How the authority checks the names. http-01 needs port 80, tls-alpn-01 port 443, dns-01 a DNS record. ' +
    'Wildcards need dns-01.',
  directory: 'Directory',
  anyDirectory: 'Each in the configured order',
  chain: 'Certificate and chain (PEM)',
  chainHelp: 'The certificate of the host first, then the intermediate certificates',
  key: 'Private key (PEM)',
  keyHelp: 'Without a passphrase',
  state: 'State',
  states: {
    waiting: 'waiting',
    serving: 'serving',
    failing: 'failing',
    ended: 'expired',
    revoked: 'revoked',
  },
  ordering: 'being ordered',
  notOnNodes: 'not on all nodes yet',
  sites: 'Sites',
  issuer: 'Issued by',
  ends: 'Expires',
  next: 'Next order',
  never: 'by hand',
  actions: 'Actions',
  renew: 'Renew now',
  orderNow: 'Order now',
  revoke: 'Revoke',
  remove: 'Remove',
  renewing: (names: Shown) => `The certificate for ${names} is being ordered.`,
  failed: (names: Shown) => `The last order for ${names} failed`,
  failures: (count: number, when: Shown) => `${some(count, 'failure')} in a row. Next attempt: ${when}.`,
  revokeTitle: 'Revoke this certificate?',
  revokeAbout: (names: Shown) =>
    `Browsers that check revocation then refuse ${names}, and nodes stop serving it. Order a new one first.`,
  removeTitle: 'Remove this certificate?',
  removeAbout: (names: Shown) => `Nodes stop serving it for ${names}. It is not revoked at its authority.`,
  revoked: (names: Shown) => `The certificate for ${names} is revoked.`,
  removed: (names: Shown) => `The certificate for ${names} is removed.`,
  noCertificates: 'There are no certificates',
  noCertificatesAbout:
    'Nodes serve a self-signed certificate, which browsers do not trust. Order one, or upload yours.',
  uncovered: 'Hosts without a certificate',
};
