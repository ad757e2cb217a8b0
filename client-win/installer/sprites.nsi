; The installer. It installs the program for the current user and needs no administrator rights.
;   makensis -DEXE=… -DICON=… -DOUT=… -DVERSION=… sprites.nsi
; Options: /S installs without asking. /AUTOSTART=1 starts the program with Windows, /AUTOSTART=0 does not; without this
; option an upgrade leaves the setting as it is. /D=FOLDER, as the last option, installs to that folder.
; An upgrade asks a running program to end. A silent upgrade starts the new version in its place.
; The uninstaller removes the whole program. It keeps the user's settings and sprites (%LOCALAPPDATA%\Sprites) for a later
; installation, unless the user ticks a box or passes /S /PURGE=1.
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
!define MAIN_CLASS "SpritesDesktop" ; kMainClass in win32/single_instance.h
!define WAIT_STEPS_MAX 100          ; of 100 ms each: the program leaves its relay before it ends

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
!define MUI_COMPONENTSPAGE_TEXT_TOP "Your settings and sprites are kept for the next installation unless you tick them."
!define MUI_COMPONENTSPAGE_TEXT_COMPLIST "Remove:"
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English

Var WasRunning

; Asks the program to end if it runs, and waits until its file can be replaced.
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
    ${If} $1 > ${WAIT_STEPS_MAX}
      MessageBox MB_OK|MB_ICONSTOP "Sprites is still running. Quit it and try again." /SD IDOK
      SetErrorLevel 1
      Quit
    ${EndIf}
  ${Loop}
!macroend

; Deletes a file as soon as no process uses it.
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
  ${LoopUntil} $1 > ${WAIT_STEPS_MAX}
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
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)' ; tells Windows about the new file association
SectionEnd

Section /o "Start with Windows" AUTOSTART
  WriteRegStr HKCU "${RUN}" "Sprites" '"$INSTDIR\Sprites.exe"'
SectionEnd

; The box shows the current state, so an empty one means: do not start with Windows.
Section "-NoAutostart"
  ${IfNot} ${SectionIsSelected} ${AUTOSTART}
    DeleteRegValue HKCU "${RUN}" "Sprites"
  ${EndIf}
SectionEnd

; Starts the program again if it ran before a silent upgrade; otherwise the finish page offers it.
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
  !insertmacro DeleteOnceFree "$INSTDIR\Uninstall.exe" ; the process that started this copy may still run
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Sprites.lnk"

  DeleteRegValue HKCU "${RUN}" "Sprites"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Sprites"
  DeleteRegKey HKCU "Software\Classes\Sprites.spr"
  DeleteRegValue HKCU "Software\Classes\.spr\OpenWithProgids" "Sprites.spr"
  DeleteRegKey /ifempty HKCU "Software\Classes\.spr\OpenWithProgids"
  ReadRegStr $0 HKCU "Software\Classes\.spr" ""
  ${If} $0 == "Sprites.spr" ; unless another program has claimed .spr since
    DeleteRegValue HKCU "Software\Classes\.spr" ""
    DeleteRegValue HKCU "Software\Classes\.spr" "Content Type"
  ${EndIf}
  DeleteRegKey /ifempty HKCU "Software\Classes\.spr"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Section /o "un.My settings and sprites" PURGE
  RMDir /r "$LOCALAPPDATA\Sprites"
  RMDir /r "$APPDATA\Sprites" ; of version 0.1
SectionEnd

Function un.onInit
  ${GetParameters} $0
  ${GetOptions} $0 "/PURGE=" $1
  ${If} $1 == 1
    !insertmacro SelectSection ${PURGE}
  ${EndIf}
FunctionEnd
