// The certificates of the TLS edge as the main thread hands them to workers, and the choice among them by the name that
// a client asks for.
import { createSecureContext, type SecureContext } from 'node:tls';

export interface CertificateEntry {
  /** File it was read from, as messages name it. */
  readonly source: string;
  /** Certificate and those that lead to its root, PEM. */
  readonly chain: string;
  /** PEM, not encrypted. */
  readonly key: string;
  /** In small letters; `*.example.com` covers one label. */
  readonly names: readonly string[];
  /** When it ends, ms since 1970. */
  readonly notAfterMs: number;
}

export interface CertificateSet {
  /** Counts up with each change. */
  readonly version: number;
  /** In the order in which they are preferred for the same name. */
  readonly entries: readonly CertificateEntry[];
  /** For clients that name none of theirs, or nothing. */
  readonly fallback: CertificateEntry;
}

/** Keys by which tickets of sessions are sealed; the same in all workers, new with each start. 48 bytes. */
export type TicketKeys = Uint8Array;

/** Sessions are resumed only where they were begun for the same use (SSL_CTX_set_session_id_context). */
const sessionIdContext = 'gatehouse-edge';

const contextOf = ({ chain, key }: CertificateEntry, ticketKeys: TicketKeys): SecureContext =>
  createSecureContext({
    cert: chain,
    key,
    minVersion: 'TLSv1.2',
    sessionIdContext,
    ticketKeys: Buffer.from(ticketKeys),
    honorCipherOrder: true,
  });

const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

function wildcardOf(name: string): string | null {
  const dot = name.indexOf('.');
  return dot === -1 ? null : `*${name.slice(dot)}`;
}

export class Certificates {
  private readonly byName = new Map<string, SecureContext>();
  private readonly names = new Map<SecureContext, ReadonlySet<string>>();
  readonly fallback: SecureContext;

  /** Throws where OpenSSL does not take a certificate; the store has tried them before (`tryCertificate`). */
  constructor(
    { entries, fallback }: CertificateSet,
    private readonly ticketKeys: TicketKeys,
  ) {
    this.fallback = contextOf(fallback, ticketKeys);
    this.names.set(this.fallback, new Set(fallback.names));
    for (const entry of entries) {
      const context = entry === fallback ? this.fallback : contextOf(entry, this.ticketKeys);
      this.names.set(context, new Set(entry.names));
      for (const name of entry.names) if (!this.byName.has(name)) this.byName.set(name, context);
    }
  }

  /** By its name, then by a wildcard for its last labels (RFC 6125 section 6.4.3), else the fallback. */
  find(serverName: string): SecureContext {
    return this.own(plainName(serverName)) ?? this.fallback;
  }

  private own(name: string): SecureContext | undefined {
    const wild = wildcardOf(name);
    return this.byName.get(name) ?? (wild === null ? undefined : this.byName.get(wild));
  }

  /**
   * Whether `host` has a certificate of its own, and a client that asked for `serverName` was shown another one. A host
   * of which no certificate knows is nobody's.
   */
  areApart(serverName: string, host: string): boolean {
    const name = plainName(host);
    const own = this.own(name);
    const shown = this.find(serverName);
    if (own === undefined || own === shown) return false;
    const covered = this.names.get(shown);
    const wild = wildcardOf(name);
    return covered?.has(name) !== true && (wild === null || covered?.has(wild) !== true);
  }
}

/** Throws what OpenSSL says of a certificate that cannot be used. */
export function tryCertificate(chain: string, key: string): void {
  createSecureContext({ cert: chain, key, minVersion: 'TLSv1.2' });
}
