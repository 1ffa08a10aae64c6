// Manifests of Kubernetes beside the rules.
import { leftOut, nothing, type Engine, type Finding } from '../contract.js';
import { findingsOf } from '../iac/findings.js';
import { Lines } from '../lines.js';
import { looksLikeManifest, readManifests } from './manifests.js';
import { k8sRules } from './rules.js';

export const k8sEngine: Engine = {
  take({ path, bytes }) {
    const text = bytes.toString('utf8');
    if (!looksLikeManifest(text)) return nothing;
    if (/\{\{[-\s]*(?:\.|include|template|if|range|with|toYaml|define|\$)/.test(text))
      return leftOut(path, 'templates of Helm: scan what `helm template` writes');
    const lines = new Lines(text);
    const findings: Finding[] = readManifests(text).flatMap((manifest) =>
      k8sRules.flatMap((rule) => findingsOf(rule, manifest, () => ({ path, lines }))),
    );
    return { ...nothing, findings, scanned: [path] };
  },
  end: () => nothing,
};
