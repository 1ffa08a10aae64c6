// Requests of a node to the node port of a control plane that are no records: joining and renewing. Small JSON, each on
// a connection of its own, over TLS alone.
import { request } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

const answerBytesMax = 256 * 1024;
const answerMsMax = 20_000;

/** An answer that is no 2xx. */
export class NodePortRefusal extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
    this.name = 'NodePortRefusal';
  }
}

/** Rejects with NodePortRefusal for a refusal, and with the error of the connection where there was no answer. */
export function askNodePort(
  address: string,
  path: string,
  tls: SecureContextOptions & { readonly servername: string },
  body: object,
  signal?: AbortSignal,
): Promise<unknown> {
  const text = JSON.stringify(body);
  const limit = AbortSignal.timeout(answerMsMax);
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, address), {
      ...tls,
      method: 'POST',
      agent: false,
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    });
    asked.once('error', reject);
    asked.once('response', (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > answerBytesMax) asked.destroy(new Error('the answer is too large for a control plane'));
        else pieces.push(piece);
      });
      response.once('error', reject);
      response.once('end', () => {
        const status = response.statusCode ?? 0;
        const answer = parse(Buffer.concat(pieces).toString('utf8'));
        if (status >= 200 && status < 300) resolve(answer);
        else reject(new NodePortRefusal(status, detailOf(answer) ?? `it answered ${status}`));
      });
    });
    asked.end(text);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const detailOf = (answer: unknown): string | null => {
  const { detail } = (answer ?? {}) as { readonly detail?: unknown };
  return typeof detail === 'string' ? detail.slice(0, 500) : null;
};
