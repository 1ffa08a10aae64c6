// Names of modules.

/** As a table names it: `fs` for `node:fs/promises`. */
export const moduleName = (text: string): string =>
  text
    .replace(/^node:/, '')
    .replace(/^(fs|dns|timers)\/promises$/, '$1')
    .replace(/^lodash(?:\.|\/)(\w+)$/, 'lodash.$1');
