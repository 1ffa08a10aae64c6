// Analyzers of .NET. All of a build report under the name of the compiler, so that the prefix of a rule tells whose
// it is. A prefix that stands nowhere here is of another analyzer, so that its rules are shown.
import type { WeaknessTable } from '../weakness-tables.js';

/** Rules of SonarAnalyzer and of the audit of NuGet under the name of the compiler. */
export const roslynCarries: readonly (readonly [rule: RegExp, tool: string])[] = [[/^S\d{2,5}$/, 'SonarQube']];

/** Advisories of packages; NU1900 and NU1905 say that there was nothing to compare with. */
export const nugetAudit = /^NU190[1-4]$/;

/** `SYSLIB0xxx` that are about security: obsolete serialisers, algorithms, protocols. */
const obsolete = 'SYSLIB00(?:01|03|06|11|2[1-3]|2[78]|39|4[0135]|48|5[0134578]|60)$|SYSLIB0026$';

export const roslynSecurity = new RegExp(
  [
    '^(?:CA(?:21\\d\\d|23\\d\\d|3\\d{3}|5\\d{3})$|SCS\\d{4}$|SEC\\d{4}$|SG\\d{4}$|MA0009$|MA0039$',
    'EF100[023]$|ASP00(?:19|25|26|28)$|V56\\d\\d$',
    `${obsolete})`,
  ].join('|'),
);

/** Compilers, SDK and analyzers of style and correctness. */
export const roslynStyle = new RegExp(
  [
    '^(?:CA[12]\\d{3}|CS\\d{4}|BC\\d{4,5}|FS\\d{4}|IDE\\d{4}|EnableGenerateDocumentationFile|SA\\d{4}|SX\\d{4}|' +
      'RCS\\d{4}',
    'RS\\d{4}|MA\\d{4}|VSTHRD\\d{3}|VSSDK\\d{3}|xUnit\\d{4}|NUnit\\d{4}|MSTEST\\d{4}|EF\\d{4}|EFCore\\w+|' +
      'ASP\\d{4}|MVC\\d{4}',
    'API\\d{4}|BL\\d{4}|IL\\d{4}|SYSLIB\\d{4}|NU\\d{4}|NETSDK\\d{4}|MSB\\d{4}|AsyncFixer\\d{2}|Async\\d{3}|' +
      'CC\\d{4}|RECS\\d{4}',
    'IDISP\\d{3}|WPF\\d{4}|INPC\\d{3}|GU\\d{4}|REFL\\d{3}|HAA\\d{4}|EPC\\d{2}|EPS\\d{2}|ERP\\d{3}|AD0001|' +
      'CC\\d{4}|PH\\d{4}',
    'U2U\\d{4}|SER\\d{3,4}|Nullable\\w*|JSON\\d{3}|RE0001|LOGGEN\\d{3}|CTX\\d{4}|EXTEXP\\d{4}|AL\\d{4}|' +
      'CSE\\d{3}|MiKo_\\d{4}',
    'SST\\d{4}|ACL\\d{4}|MEN\\d{3}|MM\\d{4}|FAA\\d{4}|SCA\\d{4}|CLSCompliant\\w*|RZ\\d{4,5}|XLS\\d{4}|XC\\d{4}|' +
      'MT\\d{4}|XA\\d{4}',
    'Moq\\d{4}|FluentAssertions\\d{4}|CRR\\d{4}|CRRSP\\d+|Roslynator\\w*|ReSharper\\w*|GeneratedCode\\w*|PUBLIC\\w*',
  ].join('|') + ')$',
);

export const roslynWeaknesses: WeaknessTable = {
  22: 'CA3003 CA5389 SCS0018 SEC0111 SEC0112 SEC0116 SG0018',
  78: 'CA3006 SCS0001 SEC0031 SEC0032 SG0001',
  79: `CA3002 CA5363 SCS0017 SCS0021 SCS0029 SCS0030 SEC0012 SEC0022 SEC0023 SEC0024 SEC0100 SEC0101 SEC0102 SEC0103
    SEC0104 SEC0105 SG0017 SG0021 SG0029`,
  89: `CA2100 CA3001 EF1000 EF1002 EF1003 SCS0002 SCS0014 SCS0020 SCS0025 SCS0035 SCS0036 SEC0106 SEC0107 SEC0108
    SG0002 SG0014 SG0020 SG0025`,
  90: 'CA3005 SCS0026 SCS0031 SEC0114 SEC0117 SEC0118 SEC0119 SG0026 SG0031',
  91: 'CA3009 CA3010',
  113: 'CA5365 SEC0008',
  114: 'CA3011',
  200: 'CA3004 SEC0009',
  209: 'SEC0002',
  248: 'CA2153',
  276: 'CA2109 CA2119',
  295: 'CA5359 CA5380 CA5381 MA0039 SCS0004 SEC0113 SG0004 SYSLIB0040',
  299: 'CA5399 CA5400',
  307: 'SEC0018',
  311: 'SEC0013 SCS0023 SG0023',
  312: 'SEC0016',
  319: 'CA5376 SEC0014',
  321: 'CA5390 CA5403',
  326: 'CA5361 CA5385 SYSLIB0045',
  327: `CA5350 CA5351 CA5358 CA5364 CA5373 CA5378 CA5384 CA5386 CA5397 CA5398 SCS0010 SCS0013 SEC0025 SEC0026 SG0010
    SG0011 SG0012 SG0013 SYSLIB0021 SYSLIB0022 SYSLIB0039 SYSLIB0053 SYSLIB0058`,
  328: 'SCS0006 SEC0027 SEC0028 SG0006',
  329: 'CA5401 CA5402',
  338: 'CA5394 SCS0005 SEC0115 SG0005 SYSLIB0023',
  347: 'CA5404 CA5405 SEC0122',
  352: 'CA3147 CA5368 CA5391 CA5395 SCS0016 SEC0019 SG0016',
  353: 'SCS0024 SEC0006 SEC0011 SG0024',
  426: 'CA5392 CA5393',
  489: 'SEC0001',
  502: 'CA23* CA5360 CA5362 CA5367 SCS0028 SEC0029 SEC0030 SG0028 SYSLIB0011 SYSLIB0050 SYSLIB0051',
  521: 'SCS0032 SCS0033 SCS0034 SEC0017',
  524: 'SCS0019 SG0019',
  554: 'SCS0022 SEC0010 SG0022',
  598: 'SEC0004',
  601: 'CA3007 SCS0027 SEC0005 SEC0109 SEC0110 SG0027',
  611: 'CA3061 CA3075 CA3076 CA3077 CA5366 CA5369 CA5370 CA5371 CA5372 CA5374 SCS0007 SCS0011 SG0007',
  613: 'SEC0007 SEC0020 SEC0021',
  614: 'CA5382 CA5383 SCS0008 SEC0003 SG0008',
  643: 'CA3008 SCS0003 SG0003',
  732: 'CA5375 CA5377',
  798: 'SCS0015 SG0015',
  862: 'SCS0012 SEC0120',
  916: 'CA5379 CA5387 CA5388 SYSLIB0041 SYSLIB0060',
  942: 'SEC0121',
  1004: 'CA5396 SCS0009 SEC0015 SG0009',
  1333: 'CA3012 MA0009',
};
