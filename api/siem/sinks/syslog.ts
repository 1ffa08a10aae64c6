// Syslog of RFC 5424 over TCP (RFC 6587), TLS (RFC 5425) and UDP (RFC 5426), also for CEF and JSON inside it. The
// protocol has no answers, so a batch has a connection of its own: this side says that it is done, and the batch counts
// as taken when the other side has read to that end and closes as well. What is killed meanwhile resets the connection,
// and the batch is sent again; only what it had read and not kept when it was killed is lost with it, which the
// protocol cannot tell. A receiver that never closes needs the option `ack` = `written`, which trusts the
// system's buffers.
import { isIP, type Socket } from 'node:net';
import type { Connector } from '../connector.js';
import { defaultSyslog, isJsonFormat, jsonFormats, toCef, toRfc5424, type SyslogOptions } from '../formats/index.js';
import { cut } from '../formats/texts.js';
import {
  later,
  reasonOf,
  sinkTimeoutMs,
  taken,
  type Delivery,
  type Outcome,
  type Sink,
  type SinkParts,
} from './sink.js';

const defaultPorts = { tcp: 601, tls: 6514, udp: 514 } as const;
/** What RFC 5426 asks every receiver to take (section 3.2). */
const datagramBytesMax = 2048;
/** How long an answer "nobody listens there" takes from machines nearby. */
const noticeMs = 30;

export const syslog: Sink = {
  eventsMax: 500,
  bytesMax: 1_000_000,
  async deliver(connector, batch, parts): Promise<Outcome> {
    try {
      const target = new URL(connector.target);
      const transport = target.protocol.slice(0, -1) as keyof typeof defaultPorts;
      const place = {
        host: target.hostname,
        port: Number(target.port || defaultPorts[transport]),
        timeoutMs: sinkTimeoutMs,
      };
      if (transport === 'udp')
        return await sendDatagrams(
          batch.map((event) => datagramOf(connector, event)),
          place,
          parts,
        );
      const messages = batch.map((event) => Buffer.from(messageOf(connector, event), 'utf8'));
      const { ca_cert: ca, framing, ack } = connector.options;
      const socket = await parts.outbound.connect({ ...place, transport, ...(ca === undefined ? {} : { ca }) });
      const framed = messages.flatMap((message) =>
        framing === 'lines'
          ? [oneLine(message), Buffer.from('\n')]
          : [Buffer.from(`${message.length.toString()} `), message],
      );
      await sendStream(socket, Buffer.concat(framed), ack === 'written');
      return taken(batch.length);
    } catch (error) {
      return later(reasonOf(error));
    }
  },
};

const oneLine = (message: Buffer): Buffer => Buffer.from(message.toString('utf8').replaceAll(/[\r\n]+/g, ' '), 'utf8');

/** The whole message of an event, without what frames it. */
export function messageOf(connector: Connector, event: Delivery): string {
  const { options, format } = connector;
  const syslogOptions: SyslogOptions = {
    facility: Number(options['facility'] ?? defaultSyslog.facility),
    appName: options['app_name'] ?? defaultSyslog.appName,
    pen: options['pen'] ?? defaultSyslog.pen,
    host: options['host'] ?? defaultSyslog.host,
  };
  if (format === 'cef') return toRfc5424(event, syslogOptions, toCef(event));
  if (isJsonFormat(format)) return toRfc5424(event, syslogOptions, JSON.stringify(jsonFormats[format](event)));
  return toRfc5424(event, syslogOptions);
}

/** Units of a text that are left in each attempt to make a message fit. */
const shorter = [400, 200, 100, 50, 25, 10] as const;
const rulesOfDatagram = 4;

/**
 * The message for a datagram: at most as long as every receiver takes, and whole. Structured data that is cut is no
 * structured data, and JSON that is cut no JSON, so texts become shorter, and details go, until it fits.
 */
export function datagramOf(connector: Connector, event: Delivery): Buffer {
  const whole = Buffer.from(messageOf(connector, event), 'utf8');
  if (whole.length <= datagramBytesMax) return whole;
  for (const chars of shorter) {
    const message = Buffer.from(messageOf(connector, shortened(event, chars)), 'utf8');
    if (message.length <= datagramBytesMax) return message;
  }
  return clip(whole);
}

function shortened(event: Delivery, chars: number): Delivery {
  const short = <T extends string | null>(text: T): T =>
    text === null || text.length <= chars ? text : (`${cut(text, chars)}…` as T);
  const { request, rules } = event;
  return {
    ...event,
    name: short(event.name),
    node: short(event.node),
    site: short(event.site),
    reason: short(event.reason),
    request:
      request === null
        ? null
        : {
            ...request,
            id: short(request.id),
            path: short(request.path),
            query: short(request.query),
            user_agent: short(request.user_agent),
            host: short(request.host),
          },
    rules: rules.slice(0, rulesOfDatagram).map((rule) => ({
      ...rule,
      message: short(rule.message),
      tags: rule.tags.slice(0, rulesOfDatagram).map(short),
      data: short(rule.data),
    })),
    details: {},
  };
}

/** Resolves when the other side has closed after the last byte (or, `isTrusting`, when the system took it). */
function sendStream(socket: Socket, bytes: Buffer, isTrusting: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error: Error | null): void => {
      clearTimeout(alarm);
      socket.destroy();
      if (error === null) resolve();
      else reject(error);
    };
    const alarm = setTimeout(
      () =>
        end(
          new Error(
            'the receiver did not close the connection after the last message; ' +
              'if it never does, set options.ack to "written"',
          ),
        ),
      sinkTimeoutMs,
    );
    socket.once('error', (error) => end(error));
    let isFlushed = false;
    socket.once('end', () => end(isFlushed ? null : new Error('the receiver closed before it had everything')));
    socket.once('close', () => end(new Error('the receiver ended the connection before it had read everything')));
    socket.resume(); // nothing is expected, and what is not read hides the end
    socket.end(bytes, () => {
      isFlushed = true;
      if (isTrusting) end(null);
    });
  });
}

/** All in order; a refusal by the system of the receiver means that they are sent again. */
async function sendDatagrams(
  messages: readonly Buffer[],
  place: { readonly host: string; readonly port: number; readonly timeoutMs: number },
  { outbound }: SinkParts,
): Promise<Outcome> {
  const host = isIP(place.host.replace(/^\[|\]$/g, '')) === 6 ? place.host.replace(/^\[|\]$/g, '') : place.host;
  const socket = await outbound.datagrams({ ...place, host });
  let refusal: Error | null = null;
  socket.on('error', (error) => {
    refusal = error;
  });
  const notice = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, noticeMs));
  try {
    for (const [index, message] of messages.entries()) {
      if (refusal !== null) break;
      await new Promise<void>((resolve) => {
        // an answer to what went before may come as the error of this one
        socket.send(message, (error) => {
          refusal ??= error ?? null;
          resolve();
        });
      });
      if (index === 0) await notice();
    }
    await notice();
  } finally {
    socket.close();
  }
  return refusal === null
    ? taken(messages.length)
    : later(`nobody listens at ${place.host}:${place.port}: ${reasonOf(refusal)}`);
}

/** Of what no shorter text makes fit, as a name of a host of its own length: no part of a character. */
function clip(message: Buffer): Buffer {
  if (message.length <= datagramBytesMax) return message;
  let end = datagramBytesMax;
  while (end > 0 && ((message[end] as number) & 0xc0) === 0x80) end -= 1;
  return message.subarray(0, end);
}
