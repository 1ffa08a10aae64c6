// A Dockerfile beside the rules of infrastructure and of secrets.
import { scannerOf } from '../scanners/catalogue.js';
import { scanText } from '../scanners/run/text.js';

/** null: too many are looked at now. */
export async function lintDockerfile(text: string) {
  const found = await scanText('Dockerfile', text, [scannerOf('iac'), scannerOf('secrets')]);
  if (found === null) return null;
  const { results, stopped } = found;
  const items = results.flatMap(({ scanner, findings }) =>
    findings.map(({ rule: id, line, endLine = line, message, severity, suppressed = null }) => {
      const rule = scanner.rules.find((one) => one.id === id);
      return {
        ...{ rule: id, title: rule?.title ?? id, severity: severity ?? rule?.severity ?? 'info', line, message },
        ...{ end_line: endLine, remediation: rule?.remediation ?? '', cwes: [...(rule?.cwes ?? [])], suppressed },
      };
    }),
  );
  return {
    complete: stopped === null && results.every(({ complete }) => complete),
    items: items.sort((left, right) => left.line - right.line),
    problems: results.flatMap(({ notScanned }) =>
      notScanned.filter(({ isFault }) => isFault).map(({ reason }) => reason),
    ),
  };
}
