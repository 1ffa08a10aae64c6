// Manifests of Kubernetes beside the rules.
import { leftOut, nothing, type Engine, type Finding } from '../contract.js';
import { findingsOf } from '../iac/findings.js';
import { Lines } from '../lines.js';
import { objectsOf } from './access.js';
import { beginsAsManifest, decodeManifest, isUnknownWorkload, mayBeManifest, readManifests } from './manifests.js';
import { k8sRules } from './rules.js';
import { isUsualName } from './names.js';

export const k8sEngine: Engine = {
  take({ path, bytes }) {
    const isUsual = isUsualName(path);
    const text = decodeManifest(bytes);
    if (!mayBeManifest(text) || (!isUsual && !beginsAsManifest(text))) return nothing;
    if (/\{\{[-\s]*(?:\.|include|template|if|range|with|toYaml|define|\$)/.test(text))
      return leftOut(path, 'templates of Helm: scan what `helm template` writes');
    const lines = new Lines(text);
    const manifests = readManifests(text);
    if (manifests.length === 0) return nothing;
    const unknown = [...new Set(manifests.filter(isUnknownWorkload).map(({ kind }) => kind))];
    const notScanned = unknown.map((kind) => ({
      path,
      reason: `pods of the unknown kind ${kind.slice(0, 100)}`,
      isFault: true,
    }));
    const findings: Finding[] = manifests.flatMap((manifest) =>
      k8sRules.flatMap((rule) => findingsOf(rule, manifest, () => ({ path, lines }))),
    );
    return { ...nothing, findings, notScanned, scanned: [path], objects: objectsOf(manifests) };
  },
  end: () => nothing,
};
