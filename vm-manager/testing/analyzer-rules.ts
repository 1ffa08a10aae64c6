// Rules of tools that carry several analyzers, or whose rules about security are many, for tests: what each of them is.

/** Tool → rules with their kind, and their weakness where a table has one. A kind alone: the tables say nothing. */
export const analyzerRules: Readonly<Record<string, string>> = {
  SonarQube: `
    java:S2068=sast-798 csharpsquid:S3649=sast-89 roslyn.sonaranalyzer.security.cs:S5131=sast-79 S6418=sast-798
    kubernetes:S6428=k8s-284 kubernetes:S6864=k8s-770 S6865=k8s-306 S6873=k8s-770 docker:S6471=iac-284 S6471=iac-284
    terraform:S6249=iac-319 cloudformation:S6281=iac azureresourcemanager:S6379=iac-284 githubactions:S7630=iac-78
    python:S6779=sast-798 typescript:S6268=sast java:S6363=sast-79 kotlin:S6390=sast-400 python:S6786=sast-200
    secrets:S6290=secret-798 S6338=secret-798 java:S99999=sast house:MyRule=sast cpp:S2259=sast-476 c:S3520=sast-415
    shell:S7674=sast-78 external_eslint_repo:no-eval=sast-95 external_roslyn:CA3001=sast-89
    findsecbugs:SQL_INJECTION_JDBC=sast-89 external_pylint:W0123=sast-95
    java:S2259=quality java:S106=quality python:S1192=quality docker:S7020=quality common-java:DuplicatedBlocks=quality
    kubernetes:S6907=quality S1135=quality external_eslint_repo:semi=quality external_pylint:C0114=quality
    external_roslyn:CA1822=quality`,
  'Microsoft (R) Visual C# Compiler': `
    S3649=sast-89 S2068=sast-798 S6781=sast-798 SG0001=sast-78 CA2153=sast-248 CA2119=sast-276 SYSLIB0021=sast-327
    SYSLIB0011=sast-502 MA0009=sast-1333 MA0039=sast-295 SEC0107=sast-89 SCS0026=sast-90 EF1002=sast-89 NU1903=sca
    HOUSE001=sast CA1822=quality S1481=quality IDE0051=quality MA0004=quality SYSLIB1045=quality SA1600=quality
    VSTHRD001=quality RCS1001=quality NETSDK1138=quality NU1701=quality xUnit1004=quality EF1001=quality`,
  SpotBugs: `
    ZIP_SLIP=sast-22 DP_DO_INSIDE_DO_PRIVILEGED=sast-266 POTENTIAL_XML_INJECTION=sast-91
    REFLF_REFLECTION_MAY_INCREASE_ACCESSIBILITY_OF_FIELD=sast-470
    INSECURE_SMTP_SSL=sast-295 DMI_CONSTANT_DB_PASSWORD=sast-259 HOUSE_PLUGIN_RULE=sast
    NP_NULL_ON_SOME_PATH=quality DMI_HARDCODED_ABSOLUTE_FILENAME=quality EI_EXPOSE_REP2=quality
    OCP_OVERLY_CONCRETE=quality`,
  'Android Lint': `
    UnspecifiedImmutableFlag=sast-927 TapjackingVulnerable=sast-1021 StrandhoggVulnerable=sast-1021
    RiskyLibrary=sast-1395
    WebViewClientOnReceivedSslError=sast-295 HouseCheck=sast ContentDescription=quality HandlerLeak=quality`,
  Infer: `
    SQL_INJECTION=sast-89 SHELL_INJECTION=sast-78 BUFFER_OVERRUN_L1=sast-119 USE_AFTER_FREE=sast-416
    NULLPTR_DEREFERENCE=sast-476 HOUSE_ISSUE=sast DEAD_STORE=quality PULSE_UNNECESSARY_COPY=quality
    PURE_FUNCTION=quality`,
  'clang-tidy': `
    cert-env33-c=sast-78 clang-analyzer-security.insecureAPI.gets=sast-242 clang-analyzer-cplusplus.NewDelete=sast-416
    clang-analyzer-optin.taint.GenericTaint=sast-20 bugprone-unsafe-functions=sast-120 readability-braces=quality`,
  'golangci-lint': 'G404=sast-338 gosec:G201=sast-89 bidichk=sast-1007 SA4006=quality errcheck=quality',
  PHP_CodeSniffer: `
    PHPCS_SecurityAudit.BadFunctions.SystemExecFunctions=sast-78 Magento2.SQL.RawQuery=sast-89
    Magento2.Security.XssTemplate=sast-79 WordPress.DB.DirectDatabaseQuery.NoCaching=sast-89
    Slevomat.Classes.X=quality Generic.Files.LineLength=quality`,
  'cfn-lint': 'W2501=sast-522 W1011=sast-798 E2507=sast-269 E3012=quality W2001=quality',
  tflint: `
    terraform_module_pinned_source=sast-829 terraform_naming_convention=quality
    aws_secretsmanager_secret_invalid_name=quality`,
  Solhint: 'reentrancy=sast-841 avoid-tx-origin=sast-477 max-line-length=quality',
  TSLint: 'tsr-detect-sql-literal-injection=sast-89 non-literal-fs-path=sast-22 semicolon=quality',
  Psalm: 'TaintedInput=sast-20 UnusedVariable=quality',
  gcc: `
    -Wuse-after-free=sast-416 -Wuninitialized=sast-457 -Wanalyzer-double-fclose=sast-1341 -Wdiv-by-zero=sast-369
    -Werror=format-security=sast-134 -Wunused-variable=quality -Wsign-compare=quality`,
  ESLint: `
    no-proto=sast-1321 unicorn/no-document-cookie=sast-565 import/no-dynamic-require=sast-829 house/rule=sast
    unicorn/prefer-module=quality @typescript-eslint/no-unsafe-assignment=quality`,
  'ESLint (MegaLinter JAVASCRIPT_ES)': 'no-eval=sast-95 semi=quality',
  HTMLHint: 'iframe-sandbox-require=sast-829 doctype-first=quality',
  SwiftLint: 'insecure_cookie_storage=sast line_length=quality',
  MegaLinter: 'SC2086=sast-78 DL3002=iac-250 java:S3649=sast-89 house-rule=sast MD013=quality SC2034=quality',
  'Super-Linter': 'SC2086=sast-78',
};
