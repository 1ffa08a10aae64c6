// The way to the control plane: a bounded queue, batches that are signed, a sign of life, and the switch that comes
// with its answer. Nothing of it keeps the application running, and nothing waits for it.
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { SensorConfig } from '../config.js';
import { runAlone } from '../requests/visit.js';
import { sensorState } from '../state.js';
import type { SensorEvent } from './report.js';

const queueMax = 500;
const batchMax = 50;
const batchBytesMax = 900_000;
const answerMs = 10_000;
const answerBytesMax = 65_536;
const pauseMostMs = 300_000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

export class Sender {
  readonly #config: SensorConfig;
  readonly #about: Readonly<Record<string, string>>;
  #queue: SensorEvent[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isSending = false;
  #pauseMs = 0;
  dropped = 0;
  sent = 0;
  /** The last answer that was no success, in words. */
  refusal: string | null = null;

  constructor(config: SensorConfig, about: Readonly<Record<string, string>>) {
    this.#config = config;
    this.#about = about;
  }

  /** Takes an event; where 500 wait, it is dropped and counted. */
  take(event: SensorEvent): void {
    if (this.#queue.length >= queueMax) this.dropped++;
    else this.#queue.push(event);
    this.#soon(this.#config.batchMs);
  }

  #soon(ms: number): void {
    if (this.#timer !== null || this.#isSending) return;
    runAlone(() => {
      this.#timer = setTimeout(
        () => {
          this.#timer = null;
          void this.flush();
        },
        Math.max(ms, this.#pauseMs),
      );
      this.#timer.unref();
    });
  }

  /** Sends what waits, a batch at a time. Never rejects; what is not taken now is tried again, later each time. */
  async flush(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#nextBatch();
        const { status, body } = await this.#post('/api/v1/runtime/events', { events: batch });
        if (status === 202) {
          this.sent += batch.length;
          this.#queue = this.#queue.slice(batch.length);
          this.#pauseMs = 0;
          this.refusal = null;
          continue;
        }
        this.refusal = `${status} ${body.slice(0, 300)}`;
        if (status === 422 || status === 413) {
          // it will not be taken the next time either
          this.dropped += batch.length;
          this.#queue = this.#queue.slice(batch.length);
          continue;
        }
        if (status === 403 || status === 401) sensorState.isOn = false; // revoked: heard no more, so it looks no more
        this.#pauseMs = Math.min(pauseMostMs, Math.max(5000, this.#pauseMs * 2));
        break;
      }
    } finally {
      this.#isSending = false;
      if (this.#queue.length > 0) this.#soon(this.#config.batchMs);
    }
  }

  #nextBatch(): object[] {
    const { application, sensor } = this.#config;
    const batch: object[] = [];
    let bytes = 0;
    for (const event of this.#queue.slice(0, batchMax)) {
      const full = { application_id: application, sensor_id: sensor, ...event };
      bytes += JSON.stringify(full).length * 3;
      if (batch.length > 0 && bytes > batchBytesMax) break;
      batch.push(full);
    }
    return batch;
  }

  /** Says that the sensor lives, and takes the switch from the answer. Returns whether it was heard. */
  async beat(): Promise<boolean> {
    const { application, sensor } = this.#config;
    const { status, body } = await this.#post('/api/v1/runtime/heartbeat', {
      ...{ application_id: application, sensor_id: sensor, ...this.#about },
      ...{ sent: this.sent, dropped: this.dropped, troubles: sensorState.troubles },
    });
    if (status !== 200) {
      this.refusal = status === 0 ? body.slice(0, 300) || null : `${status} ${body.slice(0, 300)}`;
      if (status === 401 || status === 403) sensorState.isOn = false;
      return false;
    }
    const wants = /"enabled"\s*:\s*(true|false)/.exec(body)?.[1];
    if (wants !== undefined && !sensorState.isBroken) sensorState.isOn = wants === 'true';
    return true;
  }

  /** Status 0: no answer. Never rejects: nobody would hear of it but the application, which it would end. */
  async #post(path: string, content: object): Promise<Answer> {
    try {
      return await this.#send(path, content);
    } catch (error) {
      // a token with what no header can carry, an agent of the application that throws
      return { status: 0, body: error instanceof Error ? error.message : String(error) };
    }
  }

  #send(path: string, content: object): Promise<Answer> {
    const { url, key, token } = this.#config;
    const body = Buffer.from(JSON.stringify(content));
    const seconds = String(Math.floor(Date.now() / 1000));
    const signature = key === null ? null : createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex');
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return runAlone(
      () =>
        new Promise((resolve) => {
          const none = (): void => resolve({ status: 0, body: '' });
          const outgoing = send(new URL(path, url), {
            method: 'POST',
            timeout: answerMs,
            agent: false,
            headers: {
              ...{
                'content-type': 'application/json',
                'content-length': body.length,
                authorization: `Bearer ${token}`,
              },
              ...(signature === null
                ? {}
                : { 'x-sensor-timestamp': seconds, 'x-sensor-signature': `sha256=${signature}` }),
            },
          });
          outgoing.on('socket', (socket) => socket.unref());
          outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
          outgoing.on('error', none);
          outgoing.on('response', (reply) => {
            let text = '';
            reply.setEncoding('utf8');
            reply.on('data', (part: string) => {
              if (text.length < answerBytesMax) text += part;
            });
            reply.on('error', none);
            reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: text }));
          });
          outgoing.end(body);
        }),
    );
  }
}
