// `pii_mask`: which answers are masked, and the way of their bytes through the masker. Untouched stay answers that are
// signed, partial (206), streams of events, and what is no text. Codings are not asked for (forward-head.ts); an answer
// that has one nevertheless is decoded and leaves without it. Its length stays, otherwise.
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Transform } from 'node:stream';
import { codingsOf, type Coding } from '../http/decode-body.js';
import { findField, joinedField } from '../http/header-fields.js';
import { isStream } from '../http/response-fields.js';
import { CardMasker, type TextKind } from './card-masker.js';

interface AnswerHead {
  readonly status: number;
  readonly headers: readonly string[];
}

/** Fields that vouch for the bytes of a body (RFC 9530, RFC 9421, RFC 3230, RFC 1864): other bytes would be refused. */
const vouching = ['content-digest', 'repr-digest', 'digest', 'content-md5', 'signature', 'signature-input'] as const;

/** How the text of a media type is read; null: it is none that is masked. */
export function textKindOf(contentType: string | null): TextKind | null {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^application\/(jose|jwt|.*signed.*)/.test(type) || type.endsWith('+jwt')) return null;
  if (type === 'application/json' || type.endsWith('+json') || type === 'application/x-ndjson' || type === 'text/json')
    return 'json';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (type === 'text/plain' || type === 'text/csv' || type === 'text/xml') return 'text';
  return type === 'application/xml' || type.endsWith('+xml') ? 'text' : null;
}

const isWide = (contentType: string | null): boolean => /charset\s*=\s*"?utf-?(16|32)/i.test(contentType ?? '');

/** Whether answers to a request are masked at all: those of protected sites, with the setting. */
export const masksReplies = (request: {
  readonly generation: { readonly config: { readonly piiMask: boolean } };
  readonly inspection: object | null;
}): boolean => request.generation.config.piiMask && request.inspection !== null;

/** Where masked bytes go. */
export interface MaskTarget {
  write(chunk: Buffer): void;
  /** The decoder has room for more of the upstream's bytes. */
  resume(): void;
  pause(): void;
  /** What came is none of its coding. */
  broken(): void;
}

const decoders: Readonly<Record<Coding, () => Transform>> = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

export class ReplyMask {
  private readonly masker: CardMasker;
  private readonly decoder: Transform | null;
  private onEnd: (() => void) | null = null;

  constructor(
    kind: TextKind,
    coding: Coding | null,
    private readonly target: MaskTarget,
  ) {
    this.masker = new CardMasker(kind);
    this.decoder = coding === null ? null : decoders[coding]();
    if (this.decoder === null) return;
    this.decoder.on('data', (chunk: Buffer) => this.give(chunk));
    this.decoder.on('drain', () => target.resume());
    this.decoder.on('end', () => this.finish());
    this.decoder.on('error', () => target.broken());
  }

  /** The length of what leaves is not known beforehand. */
  get isDecoded(): boolean {
    return this.decoder !== null;
  }

  /** Borrowed bytes of the upstream. */
  write(chunk: Buffer): void {
    if (this.decoder === null) this.give(chunk);
    else if (!this.decoder.write(Buffer.from(chunk))) this.target.pause();
  }

  private give(chunk: Buffer): void {
    const masked = this.masker.push(chunk);
    if (masked.length > 0) this.target.write(masked);
  }

  end(onEnd: () => void): void {
    this.onEnd = onEnd;
    if (this.decoder === null) this.finish();
    else this.decoder.end();
  }

  private finish(): void {
    const rest = this.masker.flush();
    if (rest.length > 0) this.target.write(rest);
    this.onEnd?.();
  }

  /** The client takes no more for now, or takes more again. */
  hold(isHeld: boolean): void {
    if (isHeld) this.decoder?.pause();
    else this.decoder?.resume();
  }

  release(): void {
    this.decoder?.destroy();
  }

  /**
   * Header fields of the masked answer. The tag is weak from now on (RFC 9110 section 8.8.1): the bytes are others than
   * those that the application has given it to; forward-head.ts gives it back as it was.
   */
  fields(fields: readonly string[]): string[] {
    const kept: string[] = [];
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] as string;
      const value = fields[index + 1] as string;
      const lower = name.toLowerCase();
      if (lower === 'content-encoding' && this.isDecoded) continue;
      kept.push(name, lower === 'etag' && value.startsWith('"') ? `W/${value}` : value);
    }
    return kept;
  }
}

/** null: the answer leaves as it came. */
export function replyMaskFor({ status, headers }: AnswerHead, target: MaskTarget): ReplyMask | null {
  if (status === 206 || isStream(headers) || vouching.some((name) => findField(headers, name) !== null)) return null;
  const type = findField(headers, 'content-type');
  const kind = textKindOf(type);
  if (kind === null || isWide(type)) return null;
  const codings = codingsOf(joinedField(headers, 'content-encoding'));
  if (codings === 'unknown' || codings.length > 1) return null;
  return new ReplyMask(kind, codings[0] ?? null, target);
}

/** `If-Match` with the tags as the application gave them: what is weak by itself never matches there anyway. */
export const strongTags = (value: string): string => value.replaceAll('W/"', '"');
