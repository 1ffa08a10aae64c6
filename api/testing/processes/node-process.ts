// A data plane as a process of its own, to be killed by tests. Arguments: one JSON object; prints its ports as JSON.
const { startDataPlane } = (await import(new URL('../../../proxy/main/data-plane.js', import.meta.url).href)) as {
  startDataPlane: (options: object) => Promise<{ readonly ports: { readonly http: number; readonly admin: number } }>;
};
const { resolveProxyConfig } = await import('#proxy/contract');
const given = JSON.parse(process.argv[2] ?? '{}') as {
  upstream: string;
  dataDir: string;
  adminPort: number;
  port: number;
  token: string;
};
const { config } = resolveProxyConfig(
  { timeouts: { drain_ms: 300 } },
  { customer: given.upstream, payment: given.upstream },
);
const plane = await startDataPlane({
  host: '127.0.0.1',
  port: given.port,
  adminHost: '127.0.0.1',
  adminPort: given.adminPort,
  adminToken: given.token,
  workers: 1,
  listener: 'auto',
  dataDir: given.dataDir,
  initial: { config, artifact: null },
  resume: true,
  reread: null,
  handlesSignals: true,
  logLevel: 'silent',
  inspectionThreads: 0,
});
process.stdout.write(`${JSON.stringify(plane.ports)}\n`);
