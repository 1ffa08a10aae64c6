// A data plane as a process of its own, for tests that send it signals. Argument: one JSON object (listener, dataDir,
// config, logLevel, and where it is to be found again the ports: port, adminPort, tlsPort). Prints its ports as one
// JSON line when it serves.
import type { ProxyConfig } from '../contract/index.js';
import type { ListenerKind } from '../listeners/index.js';
import { startDataPlane } from '../main/data-plane.js';
import { doubleArtifact } from './inspection-double.js';

const {
  listener,
  dataDir,
  config,
  logLevel = 'silent',
  port = 0,
  adminPort = 0,
  tlsPort = null,
} = JSON.parse(process.argv[2] ?? '') as {
  readonly listener: ListenerKind;
  readonly dataDir: string;
  readonly config: ProxyConfig;
  readonly logLevel?: 'silent' | 'warn';
  readonly port?: number;
  readonly adminPort?: number;
  /** null: there is no TLS edge. */
  readonly tlsPort?: number | null;
};
const plane = await startDataPlane({
  host: '127.0.0.1',
  port,
  tls: tlsPort === null ? null : { port: tlsPort },
  adminHost: '127.0.0.1',
  adminPort,
  adminToken: 'test-token',
  workers: 1,
  listener,
  dataDir,
  initial: { config, artifact: doubleArtifact({ needles: ["' OR '", 'EVIL'], version: 1 }) },
  resume: false,
  reread: null,
  handlesSignals: true,
  inspectionModule: new URL('./inspection-double.js', import.meta.url).href,
  logLevel,
});
process.stdout.write(`${JSON.stringify(plane.ports)}\n`);
