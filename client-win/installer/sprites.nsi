; The installer: for one person, without an administrator.
;   makensis -DEXE=… -DICON=… -DOUT=… -DVERSION=… sprites.nsi
; /S installs without asking, /AUTOSTART=1 also starts the program with Windows (0: no longer; else as before),
; /D=FOLDER (last) elsewhere.
; Over an older version, also one that runs: that one is asked to end, and the new one goes on in its place.
; The uninstaller leaves nothing of the program behind. A person's settings and sprites (%APPDATA%\Sprites) stay, for
; whoever installs it again, unless asked for: a box to tick, or /S /PURGE=1.
Target amd64-unicode
Unicode true
SetCompressor /SOLID lzma
RequestExecutionLevel user
ManifestDPIAware true

!include LogicLib.nsh
!include Sections.nsh
!include FileFunc.nsh
!include MUI2.nsh

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Sprites"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define MAIN_CLASS "SpritesDesktop" ; win32/single_instance.h
!define PATIENCE_STEPS 100          ; of 100 ms: the program says good-bye to its relay first

Name "Sprites"
BrandingText " "
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Sprites"
InstallDirRegKey HKCU "Software\Sprites" "Folder"
VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "Sprites"
VIAddVersionKey FileDescription "Sprites: installer"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey LegalCopyright "MIT licence"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\Sprites.exe"
!define MUI_COMPONENTSPAGE_NODESC
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!define MUI_COMPONENTSPAGE_TEXT_TOP "What you made and how you set it up stays for the next time, unless you tick it."
!define MUI_COMPONENTSPAGE_TEXT_COMPLIST "Take away:"
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English

Var WasRunning

; Asks the program to end, if it runs, and waits until its file can be replaced.
!macro EndProgram
  StrCpy $WasRunning 0
  StrCpy $1 0
  ${Do}
    FindWindow $0 "${MAIN_CLASS}"
    ${If} $0 <> 0
      StrCpy $WasRunning 1
      SendMessage $0 ${WM_CLOSE} 0 0 /TIMEOUT=5000
    ${EndIf}
    ClearErrors
    ${If} ${FileExists} "$INSTDIR\Sprites.exe"
      FileOpen $2 "$INSTDIR\Sprites.exe" a
      ${IfNot} ${Errors}
        FileClose $2
      ${EndIf}
    ${EndIf}
    ${If} $0 = 0
    ${AndIfNot} ${Errors}
      ${Break}
    ${EndIf}
    Sleep 100
    IntOp $1 $1 + 1
    ${If} $1 > ${PATIENCE_STEPS}
      MessageBox MB_OK|MB_ICONSTOP "Sprites is still running. Quit it and try again." /SD IDOK
      SetErrorLevel 1
      Quit
    ${EndIf}
  ${Loop}
!macroend

; Deletes a file as soon as nobody uses it any more.
!macro DeleteOnceFree FILE
  StrCpy $1 0
  ${Do}
    ClearErrors
    Delete "${FILE}"
    ${IfNot} ${Errors}
      ${Break}
    ${EndIf}
    Sleep 100
    IntOp $1 $1 + 1
  ${LoopUntil} $1 > ${PATIENCE_STEPS}
!macroend

Section "Sprites"
  SectionIn RO
  !insertmacro EndProgram
  SetOutPath "$INSTDIR"
  File "/oname=Sprites.exe" "${EXE}"
  WriteUninstaller "$INSTDIR\Uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Sprites.lnk" "$INSTDIR\Sprites.exe"

  WriteRegStr HKCU "Software\Sprites" "Folder" "$INSTDIR"
  WriteRegStr HKCU "Software\Classes\.spr" "" "Sprites.spr"
  WriteRegStr HKCU "Software\Classes\.spr" "Content Type" "image/png"
  WriteRegStr HKCU "Software\Classes\.spr\OpenWithProgids" "Sprites.spr" ""
  WriteRegStr HKCU "Software\Classes\Sprites.spr" "" "Sprite"
  WriteRegStr HKCU "Software\Classes\Sprites.spr\DefaultIcon" "" '"$INSTDIR\Sprites.exe",0'
  WriteRegStr HKCU "Software\Classes\Sprites.spr\shell\open\command" "" '"$INSTDIR\Sprites.exe" "%1"'

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Sprites"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\Sprites.exe"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Sprites project"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; the association is new
SectionEnd

Section /o "Start with Windows" AUTOSTART
  WriteRegStr HKCU "${RUN}" "Sprites" '"$INSTDIR\Sprites.exe"'
SectionEnd

; The box shows what is, so an empty one means: no longer.
Section "-NoAutostart"
  ${IfNot} ${SectionIsSelected} ${AUTOSTART}
    DeleteRegValue HKCU "${RUN}" "Sprites"
  ${EndIf}
SectionEnd

; What ran before an upgrade runs again; only then, for a finish page asks.
Section "-Resume"
  ${If} $WasRunning = 1
  ${AndIf} ${Silent}
    Exec '"$INSTDIR\Sprites.exe"'
  ${EndIf}
SectionEnd

Function .onInit
  ${GetParameters} $0
  ${GetOptions} $0 "/AUTOSTART=" $1
  ReadRegStr $2 HKCU "${RUN}" "Sprites"
  ${If} $1 == 1
    !insertmacro SelectSection ${AUTOSTART}
  ${ElseIf} $1 == ""
  ${AndIf} $2 != ""
    !insertmacro SelectSection ${AUTOSTART}
  ${EndIf}
FunctionEnd

Section "un.Sprites"
  SectionIn RO
  !insertmacro EndProgram
  !insertmacro DeleteOnceFree "$INSTDIR\Sprites.exe"
  !insertmacro DeleteOnceFree "$INSTDIR\Uninstall.exe" ; what started this copy of it may not have ended yet
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Sprites.lnk"

  DeleteRegValue HKCU "${RUN}" "Sprites"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Sprites"
  DeleteRegKey HKCU "Software\Classes\Sprites.spr"
  DeleteRegValue HKCU "Software\Classes\.spr\OpenWithProgids" "Sprites.spr"
  DeleteRegKey /ifempty HKCU "Software\Classes\.spr\OpenWithProgids"
  ReadRegStr $0 HKCU "Software\Classes\.spr" ""
  ${If} $0 == "Sprites.spr" ; another program may have taken it over
    DeleteRegValue HKCU "Software\Classes\.spr" ""
    DeleteRegValue HKCU "Software\Classes\.spr" "Content Type"
  ${EndIf}
  DeleteRegKey /ifempty HKCU "Software\Classes\.spr"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Section /o "un.My settings and my sprites, too" PURGE
  RMDir /r "$APPDATA\Sprites"
SectionEnd

Function un.onInit
  ${GetParameters} $0
  ${GetOptions} $0 "/PURGE=" $1
  ${If} $1 == 1
    !insertmacro SelectSection ${PURGE}
  ${EndIf}
FunctionEnd
