// What the sensor is told by the environment. Without an address, an application or a key it stays out of everything.

export interface SensorConfig {
  /** Of the control plane, without a path: `https://gatehouse.example`. */
  readonly url: URL;
  readonly application: string;
  /** The name that it is registered by. */
  readonly sensor: string;
  /** gs_…, with which batches are signed; null for one that is not registered. */
  readonly key: string | null;
  /** A token of the scope `ingest`. */
  readonly token: string;
  /** Whether mistakes of the sensor are written to stderr. */
  readonly isVerbose: boolean;
  readonly heartbeatMs: number;
  readonly batchMs: number;
}

/** Each as GATEHOUSE_SENSOR_…; the application's environment, of which Gatehouse itself reads nothing. */
type Given = Readonly<Record<string, string | undefined>>;
const prefix = 'GATEHOUSE_SENSOR_';

/** Why there is nothing to do, or what is to be done. Never throws. */
export function configOf(given: Given): SensorConfig | { readonly why: string } {
  const read = (name: string): string => (given[`${prefix}${name}`] ?? '').trim();
  if (/^(?:0|false|no|off)$/i.test(read('ENABLED'))) return { why: `${prefix}ENABLED switches it off` };
  const missing = ['URL', 'APPLICATION', 'NAME', 'TOKEN'].filter((name) => read(name) === '');
  if (missing.length > 0) return { why: `${missing.map((name) => prefix + name).join(', ')} must be set` };
  const url = URL.canParse(read('URL')) ? new URL(read('URL')) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return { why: `${prefix}URL is no address of http or https` };
  const seconds = (name: string, least: number, most: number, otherwise: number): number => {
    const value = Number(read(name) || otherwise);
    return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) * 1000 : otherwise * 1000;
  };
  return {
    url,
    application: read('APPLICATION'),
    sensor: read('NAME').slice(0, 200),
    key: read('KEY') || null,
    token: read('TOKEN'),
    isVerbose: read('VERBOSE') !== '',
    heartbeatMs: seconds('HEARTBEAT_SECONDS', 1, 3600, 60),
    batchMs: seconds('BATCH_SECONDS', 0.05, 60, 2),
  };
}
