// What the browser is told about each page of the console. It shows attacks all day, so nothing that an attacker wrote
// may run even where a page has a mistake: no inline scripts or styles, no third party, Trusted Types for every sink.
// Source: W3C Content Security Policy Level 3, Trusted Types.

/** The two policies that the bundle makes: the compiler's own templates, and no other text becomes markup. */
export const trustedTypesPolicies = ['gatehouse-templates'];

const directives: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': trustedTypesPolicies.join(' '),
};

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Of pages behind a link that is a secret: no search engine may keep them, and no cache. */
export const privateHeaders: Readonly<Record<string, string>> = {
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cache-control': 'no-store',
};
