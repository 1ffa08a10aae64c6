// How features become routes: each registers its own, and what it registers has to be exactly what its access rows say.
// A mistake stops the start, so that no route is ever open by oversight and no row promises a route that is not there.
import type { App, Feature } from './http-kit/index.js';

export function registerFeatures<Needs>(app: App, features: readonly Feature<Needs>[], needs: Needs): void {
  const names = new Set<string>();
  const registered = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') registered.add(`${one} ${url}`);
  });
  for (const feature of features) {
    if (names.has(feature.name)) throw new Error(`Two features are called ${feature.name}.`);
    names.add(feature.name);
    registered.clear();
    feature.routes?.(app, needs);
    const rows = Object.keys(feature.access);
    const missing = rows.filter((row) => !registered.has(row));
    const surplus = [...registered].filter((route) => !rows.includes(route));
    if (missing.length > 0)
      throw new Error(`The feature ${feature.name} has access rows without a route: ${missing.join(', ')}.`);
    if (surplus.length > 0)
      throw new Error(`The feature ${feature.name} has no access row for ${surplus.join(', ')}: say who may call it.`);
  }
}
