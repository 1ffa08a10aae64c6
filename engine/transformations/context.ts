import type { Program } from '../program/ir.js';
import type { TransformationContext } from './transformation.js';

/** What a program says to its transformations: the unicode map, as they want it. */
export function transformationContext(program: Program): TransformationContext {
  const { unicodeMap } = program.settings;
  const map = unicodeMap === null ? null : new Map<number, number>();
  if (map !== null && unicodeMap !== null) {
    for (let index = 0; index + 1 < unicodeMap.length; index += 2)
      map.set(unicodeMap[index] as number, unicodeMap[index + 1] as number);
  }
  return { unicodeMap: map };
}
