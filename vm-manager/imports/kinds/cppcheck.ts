// What Cppcheck says of its ids beside the id: the severity and the weakness. Its lines for editors and compilers
// (`--template=gcc`) call everything a warning and name no weakness; its XML has both.
import type { WeaknessTable } from './weakness-tables.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Ids of the severity `error`. */
const errors = words(
  'IOWithoutPositioning arrayIndexOutOfBounds assignBoolToPointer autoVariables autovarInvalidDeallocation ' +
    'boostForeachError bufferAccessOutOfBounds comparePointers containerOutOfBounds coutCerrMisusage ' +
    'danglingLifetime danglingReference danglingTempReference danglingTemporaryLifetime deallocret deallocuse ' +
    'doubleFree eraseDereference floatConversionOverflow integerOverflow invalidContainer invalidContainerLoop ' +
    'invalidFree invalidFunctionArg invalidFunctionArgBool invalidFunctionArgStr invalidIterator1 invalidLifetime ' +
    'invalidScanfFormatWidth iterators1 iterators2 iterators3 leakNoVarFunctionCall leakReturnValNotUsed ' +
    'legacyUninitvar mallocOnClassError memleak memleakOnRealloc memsetClass memsetClassReference ' +
    'mismatchAllocDealloc mismatchingContainerIterator mismatchingContainers missingReturn negativeArraySize ' +
    'negativeContainerIndex negativeIndex negativeMemoryAllocationSize nullPointer nullPointerArithmetic ' +
    'objectIndex operatorEqMissingReturnStatement overlappingWriteFunction overlappingWriteUnion pointerArithBool ' +
    'raceAfterInterlockedDecrement readWriteOnlyFile resourceLeak rethrowNoCurrentException ' +
    'returnDanglingLifetime returnReference returnTempReference selfInitialization shiftNegative shiftTooManyBits ' +
    'shiftTooManyBitsSigned sprintfOverlappingData stlBoundaries stlOutOfBounds stlcstr stlcstrthrow strPlusChar ' +
    'stringLiteralWrite throwInNoexceptFunction uninitStructMember uninitdata uninitvar unknownEvaluationOrder ' +
    'useAfterFree useClosedFile va_end_missing va_list_usedBeforeStarted va_start_referencePassed ' +
    'va_start_subsequentCalls virtualDestructor writeReadOnlyFile wrongPrintfScanfArgNum zerodiv zerodivcond',
);

/** Ids of the severity `warning`. */
const warnings = words(
  'StlMissingComparison accessForwarded accessMoved argumentSize arrayIndexOutOfBoundsCond assertWithSideEffect ' +
    'assignmentInAssert badBitmaskCheck charBitOp charLiteralWithCharPtrCompare checkCastIntToCharAndBack ' +
    'clarifyStatement compareBoolExpressionWithInt comparisonFunctionIsAlwaysTrueOrFalse ' +
    'comparisonOfBoolWithInvalidComparator constStatement copyCtorAndEqOperator copyCtorPointerCopying ' +
    'derefInvalidIterator divideSizeof duplInheritedMember exceptDeallocThrow exceptThrowInDestructor ' +
    'funcArgOrderDifferent getsCalled globalLockGuard identicalConditionAfterEarlyExit identicalInnerCondition ' +
    'ignoredReturnValue incompatibleFileOpen incompleteArrayFill incorrectCharBooleanError incorrectLogicOperator ' +
    'incorrectStringBooleanError incorrectStringCompare integerOverflowCond invalidLengthModifierError ' +
    'invalidPrintfArgType_float invalidPrintfArgType_n invalidPrintfArgType_p invalidPrintfArgType_s ' +
    'invalidPrintfArgType_sint invalidPrintfArgType_uint invalidScanfArgType_float invalidScanfArgType_int ' +
    'invalidScanfArgType_s invalidScanfFormatWidth_smaller invalidTestForOverflow invalidscanf leakUnsafeArgAlloc ' +
    'literalWithCharPtrCompare localMutex mallocOnClassWarning memsetValueOutOfRange memsetZeroBytes ' +
    'mismatchingContainerExpression missingMemberCopy moduloAlwaysTrueFalse multiplySizeof noCopyConstructor ' +
    'noDestructor noOperatorEq nullPointerArithmeticRedundantCheck nullPointerDefaultArg nullPointerOutOfMemory ' +
    'nullPointerOutOfResources nullPointerRedundantCheck operatorEqToSelf operatorEqVarError ' +
    'oppositeInnerCondition overlappingStrcmp pointerAdditionResultNotNull pointerSize publicAllocationError ' +
    'pureVirtualCall seekOnAppendedFile selfAssignment signConversion signedCharArrayIndex sizeofCalculation ' +
    'sizeofDivisionMemfunc sizeofFunctionCall sizeofsizeof sizeofwithnumericparameter ' +
    'sizeofwithsilentarraypointer staticStringCompare stlIfFind stringCompare suspiciousCase suspiciousSemicolon ' +
    'thisSubtraction thisUseAfterFree uninitDerivedMemberVar uninitDerivedMemberVarPrivate uninitMemberVar ' +
    'uninitMemberVarPrivate unsafeClassRefMember unusedLabelSwitch unusedLabelSwitchConfiguration ' +
    'uselessAssignmentPtrArg uselessCallsCompare uselessCallsEmpty uselessCallsRemove va_start_wrongParameter ' +
    'wrongPrintfScanfParameterPositionError wrongmathcall',
);

/** Ids of the severities `style`, `performance` and `portability`: no weaknesses. */
const asides = words(
  'AssignmentAddressToInteger AssignmentIntegerToAddress CastAddressToIntegerAtReturn ' +
    'CastIntegerToAddressAtReturn arithOperationsOnVoidPointer arrayIndexThenCheck assignBoolToFloat ' +
    'assignIfError assignmentInCondition bitwiseOnBoolean catchExceptionByValue clarifyCalculation ' +
    'clarifyCondition commaSeparatedReturn compareValueOutOfTypeRangeError comparisonError ' +
    'comparisonOfBoolWithBoolError comparisonOfFuncReturningBoolError comparisonOfTwoFuncsReturningBoolError ' +
    'constParameter constParameterCallback constVariable cstyleCast duplicateAssignExpression duplicateBranch ' +
    'duplicateBreak duplicateCondition duplicateConditionalAssign duplicateExpression duplicateExpressionTernary ' +
    'duplicateValueTernary exceptRethrowCopy fflushOnInputStream funcArgNamesDifferent functionConst ' +
    'functionStatic incrementboolean initializerList invalidPointerCast knownArgument ' +
    'knownArgumentHiddenVariableExpression knownConditionTrueFalse knownEmptyContainer memsetClassFloat ' +
    'memsetFloat mismatchingBitAnd missingOverride moduloofone multiCondition nanInArithmeticExpression ' +
    'noConstructor noExplicitConstructor operatorEqRetRefThis operatorEqShouldBeLeftUnimplemented ' +
    'oppositeExpression passedByValue pointerLessThanZero pointerOutOfBounds pointerPositive postfixOperator ' +
    'redundantAssignInSwitch redundantAssignment redundantBitwiseOperationInSwitch redundantCondition ' +
    'redundantCopy redundantCopyLocalConst redundantIfRemove redundantInitialization redundantPointerOp ' +
    'returnNonBoolInBooleanFunction returnStdMoveLocal sameIteratorExpression shadowArgument shadowFunction ' +
    'shadowVariable shiftNegativeLHS sizeofDereferencedVoidPointer sizeofVoid stlFindInsert stlIfStrFind stlSize ' +
    'stlcstrParam stlcstrReturn truncLongCastAssignment truncLongCastReturn unassignedVariable ' +
    'unhandledExceptionSpecification unknownSignCharArrayIndex unpreciseMathCall unreachableCode unreadVariable ' +
    'unsafeClassCanLeak unsignedLessThanZero unsignedPositive unusedAllocatedMemory unusedFunction unusedLabel ' +
    'unusedLabelConfiguration unusedPrivateFunction unusedScopedObject unusedStructMember unusedVariable ' +
    'useInitializationList useStandardLibrary useStlAlgorithm uselessAssignmentArg uselessCallsSubstr ' +
    'uselessCallsSwap varFuncNullUB variableScope virtualCallInConstructor',
);

/** Messages of the tool about its own run. */
const ofRun = words(
  'checkersReport toomanyconfigs missingInclude missingIncludeSystem ' +
    'normalCheckLevelMaxBranches unmatchedSuppression information ConfigurationNotChecked purgedConfiguration',
);
/** The file was not analysed to its end. */
const fault = new RegExp(
  '^(?:syntaxError|internalError|internalAstError|cppcheckError|unknownMacro|preprocessorErrorDirective|' +
    'fileNotFound|noValidConfiguration)$',
);

export const isOfCppcheckRun = (id: string): boolean => ofRun.has(id);
export const isCppcheckFault = (id: string): boolean => fault.test(id);
/** An id that is no weakness; of the ids that this release does not know, the severity tells. */
export const cppcheckStyle = new RegExp(
  `^(?:${[...asides].join('|')})$|^(?:unused|missing(?:Include|Override)|redundant|shadow|constParameter|` +
    'constVariable|constStatement|style|misra-|autosar-|premium-(?:misra|autosar))',
  'i',
);
export const isCppcheckId = (id: string): boolean =>
  errors.has(id) || warnings.has(id) || asides.has(id) || ofRun.has(id) || fault.test(id);

/** The severity of the id, whatever a template calls it; null: it is not known. */
export const cppcheckSeverity = (id: string): 'error' | 'warning' | 'style' | null =>
  errors.has(id) ? 'error' : warnings.has(id) ? 'warning' : asides.has(id) ? 'style' : null;

export const cppcheckWeaknesses: WeaknessTable = {
  119: 'invalidscanf',
  128: 'signedCharArrayIndex',
  131: 'incompleteArrayFill negativeMemoryAllocationSize',
  190: 'floatConversionOverflow integerOverflow integerOverflowCond',
  195: 'signConversion',
  197: 'checkCastIntToCharAndBack',
  252: 'ignoredReturnValue',
  362: 'raceAfterInterlockedDecrement',
  369: 'zerodiv zerodivcond',
  391: 'invalidTestForOverflow',
  401: 'leakUnsafeArgAlloc memleak memleakOnRealloc',
  404: 'virtualDestructor',
  415: 'doubleFree',
  416: 'deallocuse useAfterFree',
  457: 'uninitStructMember uninitdata uninitvar legacyUninitvar',
  467: 'arithOperationsOnVoidPointer pointerSize sizeofwithsilentarraypointer',
  475: 'varFuncNullUB',
  476:
    'nullPointer nullPointerDefaultArg nullPointerRedundantCheck nullPointerOutOfMemory ' + 'nullPointerOutOfResources',
  477: 'getsCalled',
  480: 'rethrowNoCurrentException',
  562:
    'autoVariables danglingLifetime danglingReference danglingTempReference danglingTemporaryLifetime ' +
    'invalidLifetime returnDanglingLifetime returnReference returnTempReference',
  570: 'comparePointers comparisonFunctionIsAlwaysTrueOrFalse incorrectStringCompare staticStringCompare',
  571:
    'badBitmaskCheck incorrectCharBooleanError incorrectLogicOperator incorrectStringBooleanError ' +
    'pointerArithBool stringCompare',
  587: 'assignBoolToPointer',
  590: 'autovarInvalidDeallocation',
  595: 'charLiteralWithCharPtrCompare literalWithCharPtrCompare',
  628: 'invalidFunctionArg invalidFunctionArgBool invalidFunctionArgStr sprintfOverlappingData uselessCallsCompare',
  665: 'mallocOnClassError memsetClassReference selfInitialization strPlusChar',
  667: 'localMutex',
  672: 'accessForwarded accessMoved deallocret',
  682:
    'divideSizeof multiplySizeof nullPointerArithmetic nullPointerArithmeticRedundantCheck sizeofCalculation ' +
    'sizeofDereferencedVoidPointer sizeofDivisionMemfunc sizeofFunctionCall sizeofVoid sizeofsizeof ' +
    'sizeofwithnumericparameter',
  683: 'funcArgOrderDifferent',
  685: 'wrongPrintfScanfArgNum wrongPrintfScanfParameterPositionError',
  686:
    'invalidPrintfArgType_float invalidPrintfArgType_n invalidPrintfArgType_p invalidPrintfArgType_s ' +
    'invalidPrintfArgType_sint invalidPrintfArgType_uint invalidScanfArgType_float invalidScanfArgType_int ' +
    'invalidScanfArgType_s memsetValueOutOfRange',
  687: 'invalidScanfFormatWidth memsetZeroBytes',
  688: 'memsetFloat va_start_wrongParameter',
  704: 'invalidLengthModifierError invalidPointerCast',
  758:
    'AssignmentAddressToInteger AssignmentIntegerToAddress CastAddressToIntegerAtReturn ' +
    'CastIntegerToAddressAtReturn memsetClassFloat missingReturn negativeArraySize objectIndex ' +
    'pointerOutOfBounds shiftNegative shiftNegativeLHS shiftTooManyBits shiftTooManyBitsSigned ' +
    'stringLiteralWrite unknownSignCharArrayIndex va_start_referencePassed wrongmathcall',
  762: 'mallocOnClassWarning memsetClass mismatchAllocDealloc uselessCallsRemove',
  768: 'unknownEvaluationOrder',
  771: 'leakReturnValNotUsed',
  772: 'leakNoVarFunctionCall',
  775: 'resourceLeak',
  783: 'clarifyStatement',
  786: 'negativeContainerIndex negativeIndex',
  788: 'arrayIndexOutOfBounds arrayIndexOutOfBoundsCond bufferAccessOutOfBounds stlOutOfBounds',
  825: 'derefInvalidIterator',
  833: 'globalLockGuard',
  834: 'StlMissingComparison',
  910: 'useClosedFile',
};
