// A setting as it is read by users who may not change it.
import { sectionsText as text } from '../../texts/setup/sections.js';
import { written } from '../settings/bounds.js';
import type { SettingSchema } from '../settings/schema.js';

export function shownValue(value: unknown, schema: SettingSchema = {}): string {
  if (typeof value === 'boolean') return value ? text.on : text.off;
  if (value === null || value === undefined || value === '') return text.empty;
  if (value === '********') return text.hidden;
  if (typeof value === 'number' || typeof value === 'string') return written(schema, value);
  if (!Array.isArray(value)) return JSON.stringify(value);
  return value.length === 0 ? text.empty : value.map((one) => shownValue(one)).join(', ');
}
