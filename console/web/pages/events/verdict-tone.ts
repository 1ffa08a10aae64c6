import type { Tone } from '../../kit/basics.js';

export const verdictTone = (verdict: string): Tone =>
  verdict === 'block' ? 'danger' : verdict === 'flag' ? 'warn' : verdict === 'engine-error' ? 'info' : 'neutral';
