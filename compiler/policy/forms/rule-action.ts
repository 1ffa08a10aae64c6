// What a custom rule of a form does when it matches, in seclang.
import { canQuote, quoteValue } from '../quoting.js';
import type { CustomRule } from '../settings.js';

const urlPattern = /^[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]{1,2000}$/; // without ' which ends the value

/** Null where the address of a redirect cannot be written. */
export function visualAction(rule: CustomRule): string | null {
  switch (rule.action) {
    case 'block':
    case 'deny':
      return 'deny,status:403';
    case 'drop':
      return 'drop';
    case 'log':
    case 'pass':
      return 'pass';
    case 'allow':
      return 'allow';
    case 'redirect':
      return urlPattern.test(rule.redirect_url) && !rule.redirect_url.includes('%{') && canQuote(rule.redirect_url)
        ? `redirect:'${quoteValue(rule.redirect_url)}',status:302`
        : null;
  }
}
