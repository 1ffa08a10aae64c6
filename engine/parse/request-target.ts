// The request-target and the variables that come from it, as ModSecurity v3 sees them.
import { decodeUriPath } from './urlencoded.js';

export interface RequestTarget {
  /** The target as sent: REQUEST_URI_RAW. */
  readonly raw: string;
  /**
   * Everything before the first `?` of the target (fragment removed), as sent; for absolute-form with scheme and host.
   */
  readonly rawPath: string;
  /** QUERY_STRING: after the first `?`, as sent, without `?`; '' when there is none. */
  readonly queryString: string;
  /** REQUEST_URI: the whole target percent-decoded, from the path on when it was in absolute form, with its query. */
  readonly uri: string;
  /** REQUEST_FILENAME and PATH_INFO: `rawPath` percent-decoded (after it was split off, see below). */
  readonly filename: string;
  /** REQUEST_BASENAME: what follows the last `/` or `\` of `filename`; '' when nothing does or there is neither. */
  readonly basename: string;
}

/**
 * Splits a request-target (latin1, any bytes). Never fails: what is not a URI gives odd but harmless parts.
 *
 * The order matters and follows ModSecurity 3.0.12 and later: a fragment is cut at the first `#` as sent, the path is
 * split from the query at the first `?` AS SENT and decoded afterwards. (Up to 3.0.11 it decoded first, so that
 * `/a%3Fevil` hid `evil` from REQUEST_FILENAME: CVE-2024-1019.) Decoding leaves malformed sequences and `+` alone.
 *
 * Absolute form: REQUEST_URI begins at the first `/` after `scheme://`; without a path after the authority the target
 * stays whole. REQUEST_FILENAME keeps scheme and host, as in ModSecurity v3.
 */
export function splitRequestTarget(raw: string): RequestTarget {
  const fragment = raw.indexOf('#');
  const target = fragment < 0 ? raw : raw.slice(0, fragment);
  const question = target.indexOf('?');
  const rawPath = question < 0 ? target : target.slice(0, question);
  const queryString = question < 0 ? '' : target.slice(question + 1);
  const filename = decodeUriPath(rawPath);
  const whole = decodeUriPath(target);
  return { raw, rawPath, queryString, uri: withoutAuthority(whole), filename, basename: basenameOf(filename) };
}

function withoutAuthority(target: string): string {
  if (target.charCodeAt(0) === 0x2f || target.length === 0) return target;
  const colon = target.indexOf(':');
  // Without a colon ModSecurity v3 searches from the beginning; such a target cannot begin with "//" here.
  if (colon < 0 || target.charCodeAt(colon + 1) !== 0x2f || target.charCodeAt(colon + 2) !== 0x2f) return target;
  const path = target.indexOf('/', colon + 3);
  return path < 0 ? target : target.slice(path);
}

function basenameOf(filename: string): string {
  for (let at = filename.length - 1; at >= 0; at -= 1) {
    const code = filename.charCodeAt(at);
    if (code === 0x2f || code === 0x5c) return filename.slice(at + 1);
  }
  return '';
}

/**
 * REQUEST_LINE: `METHOD target PROTOCOL`, as ModSecurity prints it. An HTTP/0.9 request without a protocol has no
 * trailing blank.
 */
export function requestLine(method: string, uri: string, protocol: string): string {
  return protocol === '' ? `${method} ${uri}` : `${method} ${uri} ${protocol}`;
}
