// Where in a request (or its answer) a value was, in words: `ARGS:q` → query parameter `q`.

export interface Place {
  /** `query parameter`. */
  readonly place: string;
  /** `q`; null: the place has no name of its own. */
  readonly name: string | null;
}

const plain: Readonly<Record<string, string>> = {
  ARGS_NAMES: 'parameter name',
  ARGS_GET_NAMES: 'query parameter name',
  ARGS_POST_NAMES: 'body parameter name',
  REQUEST_HEADERS_NAMES: 'request header name',
  REQUEST_COOKIES_NAMES: 'cookie name',
  REQUEST_URI: 'URI',
  REQUEST_URI_RAW: 'URI',
  REQUEST_FILENAME: 'path',
  REQUEST_BASENAME: 'file name in the path',
  REQUEST_LINE: 'request line',
  REQUEST_METHOD: 'request method',
  REQUEST_PROTOCOL: 'protocol version',
  REQUEST_BODY: 'request body',
  REQUEST_BODY_LENGTH: 'request body length',
  QUERY_STRING: 'query string',
  FULL_REQUEST: 'request',
  RESPONSE_BODY: 'response body',
  RESPONSE_STATUS: 'response status',
  REMOTE_ADDR: 'client address',
  FILES: 'uploaded file name',
  FILES_NAMES: 'upload field name',
  FILES_SIZES: 'uploaded file size',
  FILES_COMBINED_SIZE: 'size of all uploads',
  FILES_TMP_CONTENT: 'uploaded file',
  MULTIPART_FILENAME: 'uploaded file name',
  MULTIPART_NAME: 'upload field name',
  MULTIPART_STRICT_ERROR: 'multipart body',
  MULTIPART_UNMATCHED_BOUNDARY: 'multipart body',
  MULTIPART_PART_HEADERS: 'header of an upload part',
  REQBODY_ERROR: 'request body',
  REQBODY_PROCESSOR: 'request body',
  XML: 'XML body',
  ARGS_COMBINED_SIZE: 'size of all parameters',
};
const named: Readonly<Record<string, string>> = {
  ARGS_GET: 'query parameter',
  ARGS_POST: 'body parameter',
  REQUEST_HEADERS: 'request header',
  RESPONSE_HEADERS: 'response header',
  REQUEST_COOKIES: 'cookie',
};

/** Whether the query of `uri` has a parameter called `name`. */
function isInQuery(uri: string, name: string): boolean {
  const at = uri.indexOf('?');
  if (at < 0) return false;
  const wanted = name.toLowerCase();
  return uri
    .slice(at + 1)
    .split('&')
    .some((pair) => {
      const key = pair.slice(0, pair.includes('=') ? pair.indexOf('=') : pair.length);
      return key.toLowerCase() === wanted || decodedName(key).toLowerCase() === wanted;
    });
}

function decodedName(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  return spaced.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** null: the variable is no place of a request. */
export function placeOf(variable: string, uri: string): Place | null {
  const colon = variable.indexOf(':');
  const collection = (colon < 0 ? variable : variable.slice(0, colon)).toUpperCase();
  const name = colon < 0 || colon === variable.length - 1 ? null : variable.slice(colon + 1);
  const simple = plain[collection];
  if (simple !== undefined) {
    const keepsName = ['FILES', 'FILES_TMP_CONTENT', 'MULTIPART_PART_HEADERS'].includes(collection);
    return { place: simple, name: keepsName ? name : null };
  }
  if (name === null) return collection === 'ARGS' ? { place: 'parameter', name: null } : namedPlace(collection, null);
  if (collection !== 'ARGS') return namedPlace(collection, name);
  // body parsers name members of JSON documents `json.a.b`
  if (name.startsWith('json.')) return { place: 'JSON field', name: name.slice('json.'.length) };
  return { place: isInQuery(uri, name) ? 'query parameter' : 'body parameter', name };
}

const namedPlace = (collection: string, name: string | null): Place | null => {
  const place = named[collection];
  return place === undefined ? null : { place, name };
};
