// A managed feed with one patch of its own.

export const feedPatch = {
  id: 1007900,
  cve: 'CVE-2026-10001',
  title: 'Example template injection',
  product: 'Example',
  affected: '1.x',
  cwe: 'CWE-94',
  severity: 'critical',
  phase: 2,
  links: [
    ['REQUEST_FILENAME', '@contains /example/render', 'urlDecodeUni,normalizePathWin,lowercase'],
    ['ARGS:template', '@contains {{'],
  ],
  attack: [['a template', 'GET /example/render?template={{7*7}}']],
  benign: [
    ['no template', 'GET /example/render?template=plain'],
    ['elsewhere', 'GET /other?template={{x}}'],
  ],
};

export const feedDocument = {
  format: 'gatehouse-managed-feed/1',
  name: 'Test feed',
  version: 3,
  issued: '2026-02-28T00:00:00Z',
  networks: ['203.0.113.7', '198.51.100.0/24', '10.0.0.0/8'],
  catalog: [1007001],
  patches: [feedPatch],
};
