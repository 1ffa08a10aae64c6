// The dashboard and the alert rules of docs/monitoring name metrics of the data plane that exist, with labels that they
// have. Those of the control plane are checked beside its table (api/observability/).
import t from 'tap';
import { readFile } from 'node:fs/promises';
import { counters, gauges, histograms, type Family } from './families.js';

const directory = new URL('../../../docs/monitoring/', import.meta.url); // from build/proxy/metrics
const families = [counters, gauges, histograms].flatMap((table) => Object.values<Family>(table));

function familyOf(name: string): Family | undefined {
  return families.find((one) => one.name === name || (one.type === 'histogram' && `${one.name}_bucket` === name));
}

t.test('MONITORING 4: metrics of the data plane that files name exist', async (t) => {
  const dashboards = ['dashboard', 'traffic', 'security', 'fleet'].map((name) => `grafana-${name}.json`);
  for (const file of ['gatehouse.rules.yml', 'gatehouse.rules.test.yml', ...dashboards]) {
    const text = (await readFile(new URL(file, directory), 'utf8')).replaceAll('\\"', '"');
    const used = [...text.matchAll(/\b(gatehouse_(?!control_)[a-z0-9_]+)(?:\{([^}]*)\})?/g)];
    t.ok(used.length >= 4, `${file} names metrics`); // the dashboard of the control plane names its own
    for (const [, name = '', selector = ''] of used) {
      const family = familyOf(name);
      t.ok(family, `${file}: ${name}`);
      for (const [, label = ''] of selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g))
        t.ok(label === 'le' || Object.hasOwn(family?.labels ?? {}, label), `${file}: ${name} has the label ${label}`);
    }
  }
});
