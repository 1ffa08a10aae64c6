// Certificate authorities of the operator's own, beside the public ones, as git wants them: in one file.
import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { ApiError } from '#http-kit';

const certificatesMax = 50;

/** A field of a form may have lost the ends of lines: each certificate is written anew. */
const withLines = (base64: string): string => base64.replaceAll(/\s+/g, '').replaceAll(/.{64}(?=.)/g, '$&\n');

/** The file's text; null: there are none but the public ones. Throws `outbound_failed` for what is no certificate. */
export function authoritiesFile(given: string): string | null {
  if (given.trim() === '') return null;
  const parts = [...given.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]{1,20000})-----END CERTIFICATE-----/g)];
  const own = parts
    .slice(0, certificatesMax)
    .map(([, body = '']) => `-----BEGIN CERTIFICATE-----\n${withLines(body)}\n-----END CERTIFICATE-----`);
  try {
    for (const one of own) new X509Certificate(one);
  } catch {
    throw new ApiError('outbound_failed', 'A certificate in the setting vm_git_authorities cannot be read.');
  }
  if (own.length === 0) throw new ApiError('outbound_failed', 'The setting vm_git_authorities has no certificate.');
  return [...rootCertificates, ...own, ''].join('\n');
}
