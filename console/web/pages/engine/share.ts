// A share of known cases in words: per cent with one digit behind the point, and the interval that it lies in.
import type { Reply } from '../../client/http.js';
import { calibrationText as text } from '../../texts/engine/calibration.js';

export type Share = Reply<'GET /api/ai/calibration'>['rungs'][number]['precision'];

/** 0 to 1 → '92.3'; what is not all is never rounded to 100, and what is not nothing never to 0. */
export function percentOf(share: number): string {
  const tenths = Math.round(share * 1000);
  if (tenths >= 1000 && share < 1) return '99.9';
  if (tenths <= 0 && share > 0) return '0.1';
  return tenths % 10 === 0 ? String(tenths / 10) : (tenths / 10).toFixed(1);
}

/** '': there is no case, and so no interval. */
export const intervalOf = ({ low, high }: Pick<Share, 'low' | 'high'>): string =>
  low === null || high === null ? '' : text.interval(percentOf(low), percentOf(high));
