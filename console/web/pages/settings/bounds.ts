// Values of settings in words: with their unit, and what they may be.
import { showCount } from '../../client/moments.js';
import { settingsText as text } from '../../texts/settings.js';
import { shapeOf, type SettingSchema } from './schema.js';
import { unitOf } from './units.js';

/** A value as its field shows it. */
export function written(schema: SettingSchema, value: unknown): string {
  if (typeof value === 'boolean') return value ? text.on : text.off;
  const unit = unitOf(schema);
  if (unit !== null) return unit.format(value);
  const plain = typeof value === 'number' ? showCount(value) : String(value);
  return schema['x-unit'] === undefined ? plain : `${plain} ${schema['x-unit']}`;
}

/** Empty where the schema says neither. */
export function boundsOf(schema: SettingSchema): string {
  const { minimum, maximum } = shapeOf(schema).schema;
  const { default: usual } = schema;
  const hasUsual = ['string', 'number', 'boolean'].includes(typeof usual) && usual !== '';
  return [
    ...(minimum === undefined || maximum === undefined
      ? []
      : [
          text.range(unitOf(schema) === null ? showCount(minimum) : written(schema, minimum), written(schema, maximum)),
        ]),
    ...(hasUsual ? [text.byDefault(written(schema, usual))] : []),
  ].join(' · ');
}
