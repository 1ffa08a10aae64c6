// The sinks, by the kind of a connector.
import type { SiemKind } from '../connector.js';
import { elasticsearch } from './elasticsearch.js';
import { createSentinel } from './sentinel.js';
import type { Sink } from './sink.js';
import { createSplunk } from './splunk.js';
import { syslog } from './syslog.js';
import { webhook } from './webhook.js';

export type Sinks = Readonly<Record<SiemKind, Sink>>;

/** Made once for a process: one of them remembers tokens. */
export function createSinks(): Sinks {
  return { splunk_hec: createSplunk(), elasticsearch, sentinel: createSentinel(), syslog, cef: syslog, webhook };
}
