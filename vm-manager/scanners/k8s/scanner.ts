// The scanner of Kubernetes as the catalogue has it.
import type { Scanner } from '../contract.js';
import { asRule } from '../iac/rule.js';
import { isUsualName } from './names.js';
import { k8sRules } from './rules.js';

export const k8sScanner: Scanner = {
  kind: 'k8s',
  tool: 'gatehouse-k8s',
  label: 'Kubernetes',
  rules: k8sRules.map(asRule),
  joinsFiles: false,
  fileBytesMax: 16 * 1024 * 1024,
  wants: (path) => isUsualName(path) && !/(?:^|\/)(?:package(?:-lock)?|tsconfig[\w.]*|composer)\.json$/.test(path),
  wantsNamed: () => true,
  createEngine: async () => (await import('./engine.js')).k8sEngine,
};
