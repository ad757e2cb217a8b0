; The installer. It installs the program for the current user and needs no administrator rights.
;   makensis -DEXE=… -DICON=… -DOUT=… -DVERSION=… -DWORDS=… [-DSIGNER=…] sprites.nsi
; SIGNER is a script that signs the uninstaller.
; The installer stores the name of its file for the program, because a relay gives its own address with that name.
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
!define LINKS "Software\Classes\sprites" ; opens sprites: links
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define APPROVED "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" ; core/desktop/files/startup_approval.h
!define RRF_RT_REG_BINARY 8
!define MAIN_CLASS "SpritesDesktop" ; kMainClass in win32/single_instance.h
!define WAIT_STEPS_MAX 100          ; of 100 ms each: the program leaves its relay before it ends

Name "Sprites"
BrandingText " "
SpaceTexts none ; the few MiB fit everywhere, and an uninstaller needs no space
OutFile "${OUT}"
!ifdef SIGNER
  !uninstfinalize 'sh "${SIGNER}" "%1"'
!endif
InstallDir "$LOCALAPPDATA\Programs\Sprites"
InstallDirRegKey HKCU "Software\Sprites" "Folder"
VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "Sprites"
VIAddVersionKey FileDescription "Sprites: installer"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey ProductVersion "${WORDS}"
VIAddVersionKey LegalCopyright "MIT licence"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
; The pictures have the size at which NSIS shows them at 100 %: Windows enlarges a picture by repeating its pixels, but
; shrinks it by AND of neighbouring ones, which streaks the sky.
!define MUI_WELCOMEFINISHPAGE_BITMAP "side.bmp"
!define MUI_WELCOMEFINISHPAGE_BITMAP_STRETCH AspectFitHeight
!define MUI_UNWELCOMEFINISHPAGE_BITMAP "side.bmp"
!define MUI_UNWELCOMEFINISHPAGE_BITMAP_STRETCH AspectFitHeight
!define MUI_HEADERIMAGE
!define MUI_HEADERIMAGE_RIGHT
!define MUI_HEADERIMAGE_BITMAP "head.bmp"
!define MUI_HEADERIMAGE_BITMAP_STRETCH AspectFitHeight
!define MUI_WELCOMEPAGE_TITLE "$(WELCOME_TITLE)"
!define MUI_WELCOMEPAGE_TEXT "$(WELCOME_TEXT)"
!define MUI_FINISHPAGE_TITLE "$(FINISH_TITLE)"
!define MUI_FINISHPAGE_TEXT "$(FINISH_TEXT)"
!define MUI_FINISHPAGE_RUN "$INSTDIR\Sprites.exe"
!define MUI_FINISHPAGE_RUN_TEXT "$(FINISH_RUN)"
!define MUI_FINISHPAGE_NOREBOOTSUPPORT
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_COMPONENTSPAGE_TEXT_TOP "$(OPTIONS_TEXT)"
!define MUI_COMPONENTSPAGE_TEXT_COMPLIST "$(OPTIONS_LIST)"
!define MUI_COMPONENTSPAGE_TEXT_INSTTYPE " "
!insertmacro MUI_PAGE_WELCOME
!define MUI_PAGE_HEADER_TEXT "$(OPTIONS_TITLE)"
!define MUI_PAGE_HEADER_SUBTEXT " "
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_PAGE_HEADER_TEXT "$(UN_TITLE)"
!define MUI_PAGE_HEADER_SUBTEXT "$(UN_CONFIRM)"
!define MUI_COMPONENTSPAGE_TEXT_TOP "$(UN_TEXT)"
!define MUI_COMPONENTSPAGE_TEXT_COMPLIST "$(UN_LIST)"
!define MUI_COMPONENTSPAGE_TEXT_INSTTYPE " "
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English
!insertmacro MUI_LANGUAGE German

LangString WELCOME_TITLE ${LANG_ENGLISH} "Welcome to Sprites"
LangString WELCOME_TITLE ${LANG_GERMAN} "Willkommen bei Sprites"
LangString WELCOME_TEXT ${LANG_ENGLISH} "Throw an animated sprite off the edge of your desktop, and it lands on your neighbour's.$\r$\n$\r$\nSprites is installed for you only, in a few seconds, and needs no administrator rights.$\r$\n$\r$\nAfterwards your sprites fall in at the top of the screen. A right click on one opens the menu."
LangString WELCOME_TEXT ${LANG_GERMAN} "Werfen Sie eine Figur über den Rand Ihres Bildschirms, und sie landet beim Nachbarn.$\r$\n$\r$\nSprites wird nur für Sie installiert, in wenigen Sekunden und ohne Administratorrechte.$\r$\n$\r$\nDanach fallen Ihre Figuren oben herein. Ein Rechtsklick auf eine öffnet das Menü."
LangString OPTIONS_TITLE ${LANG_ENGLISH} "Options"
LangString OPTIONS_TITLE ${LANG_GERMAN} "Optionen"
LangString OPTIONS_TEXT ${LANG_ENGLISH} "You can change this later in the settings of Sprites."
LangString OPTIONS_TEXT ${LANG_GERMAN} "Das lässt sich später in den Einstellungen von Sprites ändern."
LangString OPTIONS_LIST ${LANG_ENGLISH} "Install:"
LangString OPTIONS_LIST ${LANG_GERMAN} "Installieren:"
LangString FINISH_TITLE ${LANG_ENGLISH} "Sprites is ready"
LangString FINISH_TITLE ${LANG_GERMAN} "Sprites ist bereit"
LangString FINISH_TEXT ${LANG_ENGLISH} "Drag a sprite past an edge of the screen to throw it to a neighbour.$\r$\n$\r$\nSprites uses the relay that you got it from. If it does not know one, it asks you for its address."
LangString FINISH_TEXT ${LANG_GERMAN} "Ziehen Sie eine Figur über einen Rand des Bildschirms, um sie einem Nachbarn zuzuwerfen.$\r$\n$\r$\nSprites nutzt das Relay, von dem Sie es haben. Kennt es keines, fragt es nach der Adresse."
LangString FINISH_RUN ${LANG_ENGLISH} "Let the sprites in"
LangString FINISH_RUN ${LANG_GERMAN} "Die Figuren hereinlassen"
LangString STILL_RUNS ${LANG_ENGLISH} "Sprites is still running. Quit it and try again."
LangString STILL_RUNS ${LANG_GERMAN} "Sprites läuft noch. Beenden Sie es und versuchen Sie es noch einmal."
LangString UN_TITLE ${LANG_ENGLISH} "Uninstall Sprites"
LangString UN_TITLE ${LANG_GERMAN} "Sprites deinstallieren"
LangString UN_CONFIRM ${LANG_ENGLISH} "The program is removed, and ends first if it runs."
LangString UN_CONFIRM ${LANG_GERMAN} "Das Programm wird entfernt, und vorher beendet, falls es läuft."
LangString UN_TEXT ${LANG_ENGLISH} "Your settings and sprites stay on this computer, for the next installation. Tick the box to remove them too."
LangString UN_TEXT ${LANG_GERMAN} "Ihre Einstellungen und Figuren bleiben auf diesem Computer, für die nächste Installation. Kreuzen Sie sie an, um auch sie zu entfernen."
LangString UN_LIST ${LANG_ENGLISH} "Remove:"
LangString UN_LIST ${LANG_GERMAN} "Entfernen:"
LangString SECTION_AUTOSTART ${LANG_ENGLISH} "Start with Windows"
LangString SECTION_AUTOSTART ${LANG_GERMAN} "Mit Windows starten"
LangString SECTION_PURGE ${LANG_ENGLISH} "My settings and sprites"
LangString SECTION_PURGE ${LANG_GERMAN} "Meine Einstellungen und Figuren"

Var WasRunning

; Asks the program to end as long as it runs, and takes a step that fails while its file is in use: until the step
; succeeds. The program may have been started a moment ago, and its process may live a moment longer than its window. A
; silent installation would otherwise keep the old file without a word.
!macro EndProgramAnd STEP
  StrCpy $WasRunning 0
  StrCpy $1 0
  ${Do}
    FindWindow $0 "${MAIN_CLASS}"
    ${If} $0 <> 0
      StrCpy $WasRunning 1
      SendMessage $0 ${WM_CLOSE} 0 0 /TIMEOUT=5000
    ${Else}
      ClearErrors
      ${STEP}
      ${IfNot} ${Errors}
        ${Break}
      ${EndIf}
    ${EndIf}
    Sleep 100
    IntOp $1 $1 + 1
    ${If} $1 > ${WAIT_STEPS_MAX}
      MessageBox MB_OK|MB_ICONSTOP "$(STILL_RUNS)" /SD IDOK
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
  SetOutPath "$INSTDIR"
  SetOverwrite try
  !insertmacro EndProgramAnd `File "/oname=Sprites.exe" "${EXE}"`
  SetOverwrite on
  File "licences.txt"
  WriteUninstaller "$INSTDIR\Uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Sprites.lnk" "$INSTDIR\Sprites.exe"

  WriteRegStr HKCU "Software\Sprites" "Folder" "$INSTDIR"
  WriteRegStr HKCU "Software\Sprites" "Installer" "$EXEFILE" ; the program reads the relay's address in it
  WriteRegStr HKCU "${LINKS}" "" "URL:Sprites link"
  WriteRegStr HKCU "${LINKS}" "URL Protocol" ""
  WriteRegStr HKCU "${LINKS}\DefaultIcon" "" '"$INSTDIR\Sprites.exe",0'
  WriteRegStr HKCU "${LINKS}\shell\open\command" "" '"$INSTDIR\Sprites.exe" --link "%1"'
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

Section /o "$(SECTION_AUTOSTART)" AUTOSTART
  WriteRegStr HKCU "${RUN}" "Sprites" '"$INSTDIR\Sprites.exe"'
  DeleteRegValue HKCU "${APPROVED}" "Sprites"
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
  System::Alloc 12
  Pop $3
  System::Call 'advapi32::RegGetValueW(p -2147483647, w "${APPROVED}", w "Sprites", i ${RRF_RT_REG_BINARY}, p 0, p r3, *i 12) i .r4' ; HKCU
  ${If} $4 = 0
    System::Call '*$3(&i1 .r5)'
    IntOp $5 $5 & 1
    ${If} $5 = 1
      StrCpy $2 "" ; the person has turned it off in the Task Manager
    ${EndIf}
  ${EndIf}
  System::Free $3
  ${If} $1 == 1
    !insertmacro SelectSection ${AUTOSTART}
  ${ElseIf} $1 == ""
  ${AndIf} $2 != ""
    !insertmacro SelectSection ${AUTOSTART}
  ${EndIf}
FunctionEnd

Section "un.Sprites"
  SectionIn RO
  !insertmacro EndProgramAnd `Delete "$INSTDIR\Sprites.exe"`
  Delete "$INSTDIR\licences.txt"
  !insertmacro DeleteOnceFree "$INSTDIR\Uninstall.exe" ; the process that started this copy may still run
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Sprites.lnk"

  ReadRegStr $0 HKCU "${LINKS}\shell\open\command" ""
  ${If} $0 == '"$INSTDIR\Sprites.exe" --link "%1"' ; unless another program has claimed the links since
    DeleteRegKey HKCU "${LINKS}"
  ${EndIf}
  DeleteRegValue HKCU "${RUN}" "Sprites"
  DeleteRegValue HKCU "${APPROVED}" "Sprites"
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

; Deletes what the program wrote, and the folder if nothing of another program is in it. kept.json says whose it is.
Section /o "un.$(SECTION_PURGE)" PURGE
  ${If} ${FileExists} "$LOCALAPPDATA\Sprites\kept.json"
    Delete "$LOCALAPPDATA\Sprites\settings.json*"
    Delete "$LOCALAPPDATA\Sprites\kept.json*"
    RMDir /r "$LOCALAPPDATA\Sprites\files"
    RMDir /r "$LOCALAPPDATA\Sprites\dumps"
    RMDir "$LOCALAPPDATA\Sprites"
  ${EndIf}
SectionEnd

Function un.onInit
  ${GetParameters} $0
  ${GetOptions} $0 "/PURGE=" $1
  ${If} $1 == 1
    !insertmacro SelectSection ${PURGE}
  ${EndIf}
FunctionEnd
