// Reads a ClientHello off a connection, and puts every byte of it back for node:tls.
import type { GivenValues } from '#engine';
import type { Step } from '../listeners/front/fronts.js';
import type { ConnectionRefusal } from '../metrics/families.js';
import { parseClientHello } from './client-hello/client-hello.js';
import { ja3Hash, ja4 } from './client-hello/fingerprints.js';
import { HelloReader } from './client-hello/hello-reader.js';
import { challengeProtocol } from './challenges/challenge-table.js';

/** What is kept of a ClientHello. */
export interface Hello {
  readonly serverName: string | null;
  readonly ja3: string;
  readonly ja4: string;
  readonly given: GivenValues;
  /** A certificate authority asks for a proof (RFC 8737). */
  readonly isChallenge: boolean;
}

export interface HelloRefusal {
  readonly reason: ConnectionRefusal;
  readonly detail: string;
  /** The client speaks HTTP without TLS: it can be told. */
  readonly isHttp: boolean;
}

/** `next` is called behind the hello, with the socket as if nobody had read from it. */
export function helloStep(next: (hello: Hello) => void, refused: (refusal: HelloRefusal) => void): Step {
  const reader = new HelloReader();
  const pieces: Buffer[] = [];
  const refuse = (reason: ConnectionRefusal, detail: string, isHttp = false): ReturnType<Step> => ({
    rest: Buffer.alloc(0),
    next: () => refused({ reason, detail, isHttp }),
  });
  return (chunk) => {
    pieces.push(chunk);
    const reading = reader.push(chunk);
    if (reading.kind === 'more') return null;
    if (reading.kind === 'refused') {
      if (reading.reason === 'too_long') return refuse('hello', 'the ClientHello is too long');
      return refuse('not_tls', 'what came is no TLS', looksLikeHttp(pieces[0] as Buffer));
    }
    const parsed = parseClientHello(reading.body);
    if (parsed === null) return refuse('hello', 'the ClientHello is none by the letters of its standard');
    const ja3 = ja3Hash(parsed);
    const ja4Text = ja4(parsed);
    const given: GivenValues = [
      ['ja3', ja3],
      ['ja4', ja4Text],
    ];
    const isChallenge = parsed.firstAlpn?.toString('latin1') === challengeProtocol;
    const hello = { serverName: parsed.serverName, ja3, ja4: ja4Text, given, isChallenge };
    return { rest: Buffer.concat(pieces), next: () => next(hello) };
  };
}

/** A method in capitals, as far as it came. */
const looksLikeHttp = (bytes: Buffer): boolean => /^[A-Z]{1,16}( |$)/.test(bytes.toString('latin1', 0, 17));
