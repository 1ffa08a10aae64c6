// What a worker answers by itself so that sites get HTTPS: challenges of certificate authorities (RFC 8555 section
// 8.3), for hosts that no site knows as well, and the way from plain HTTP to HTTPS where a host has a certificate.
import type { RequestHead } from '#engine';
import { findField } from '../../http/header-fields.js';
import type { CertificateSet } from '../../tls-edge/certificates/certificate-set.js';
import type { ChallengeTable } from '../../tls-edge/challenges/challenge-table.js';

const challengePath = '/.well-known/acme-challenge/';

/** Of a Host field, without port and the dot at its end, in small letters. */
const nameOf = (host: string): string => host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();

export class HttpsAnswers {
  private tokens: ReadonlyMap<string, string> = new Map();
  private names: ReadonlySet<string> = new Set();

  replaceChallenges({ http }: ChallengeTable): void {
    this.tokens = new Map(http.map(({ token, text }) => [token, text]));
  }

  /** A self-signed certificate is none that a browser follows a redirect to. */
  replaceCertificates({ entries }: Pick<CertificateSet, 'entries'>): void {
    this.names = new Set(entries.flatMap(({ names }) => names));
  }

  /**
   * The body of the answer to a challenge; null: it is none of ours, and the site may have its own ACME client. The
   * path exactly as authorities ask for it, of any host.
   */
  challengeOf({ method, uri }: Pick<RequestHead, 'method' | 'uri'>): string | null {
    if (this.tokens.size === 0 || !uri.startsWith(challengePath)) return null;
    if (method !== 'GET' && method !== 'HEAD') return null;
    return this.tokens.get(uri.slice(challengePath.length)) ?? null;
  }

  hasCertificate(host: string): boolean {
    const name = nameOf(host);
    const dot = name.indexOf('.');
    return this.names.has(name) || (dot > 0 && this.names.has(`*${name.slice(dot)}`));
  }

  /**
   * Where a request that came without TLS is to go instead; null: it stays. `isTrusted`: a proxy in front says by
   * X-Forwarded-Proto how the client came to it.
   */
  redirectOf(
    { uri, headers }: Pick<RequestHead, 'uri' | 'headers'>,
    httpsPort: number,
    isTls: boolean,
    isTrusted: boolean,
  ): string | null {
    if (isTls || !uri.startsWith('/')) return null;
    const host = findField(headers, 'host') ?? '';
    if (!this.hasCertificate(host)) return null;
    if (isTrusted && findField(headers, 'x-forwarded-proto')?.toLowerCase() === 'https') return null;
    return `https://${nameOf(host)}${httpsPort === 443 ? '' : `:${httpsPort}`}${uri}`;
  }
}

/** The value of Strict-Transport-Security (RFC 6797 section 6.1); null: none is to be sent. */
export function hstsOf(config: {
  readonly hstsMaxAgeSeconds: number;
  readonly hstsIncludeSubdomains: boolean;
}): string | null {
  const { hstsMaxAgeSeconds: seconds, hstsIncludeSubdomains } = config;
  return seconds === 0 ? null : `max-age=${seconds}${hstsIncludeSubdomains ? '; includeSubDomains' : ''}`;
}
