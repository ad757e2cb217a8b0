// The table of all texts: X(name, English, German). `&` precedes an access key, {0} is a value.
#ifndef CLIENT_WIN_CORE_TEXT_TEXTS_TABLE_H_
#define CLIENT_WIN_CORE_TEXT_TEXTS_TABLE_H_

// clang-format off
#define SPRITES_TEXTS(X) \
  /* The menu of the program. */ \
  X(kMenuNewSprite, "&New sprite", "&Neue Figur") \
  X(kMenuSprites, "Spri&tes here", "&Figuren hier") \
  X(kMenuInvite, "&Invite a friend", "Freund &einladen") \
  X(kMenuOpenLink, "&Open a link…", "&Link öffnen…") \
  X(kMenuSay, "Sa&y something…", "Etwas sa&gen…") \
  X(kMenuReact, "&React", "Reakti&on") \
  X(kReactWave, "&Wave", "&Winken") \
  X(kReactHeart, "Send a &heart", "Ein &Herz schicken") \
  X(kReactLaugh, "&Laugh", "&Lachen") \
  X(kMenuNeighbours, "Neigh&bours", "Na&chbarn") \
  X(kMenuCamera, "C&amera", "Ka&mera") \
  X(kCameraPhotograph, "&Take a picture", "Ein &Bild machen") \
  X(kCameraAnimation, "&Save the last five seconds", "Die &letzten fünf Sekunden speichern") \
  X(kMenuHeard, "&What was said…", "Was gesagt wur&de…") \
  X(kMenuPeek, "Look over an &edge", "Übe&r einen Rand sehen") \
  X(kMenuShowStage, "Neighbours may &look in", "N&achbarn dürfen hereinsehen") \
  X(kMenuMute, "&Mute", "Stumm&schalten") \
  X(kMenuSendAllOn, "Send all &guests on", "Alle Gäste &weiterschicken") \
  X(kMenuPause, "&Pause", "&Pause") \
  X(kMenuHide, "Hi&de all sprites", "Alle Figuren &verbergen") \
  X(kMenuClickThrough, "Clic&ks go through sprites", "&Klicks gehen durch die Figuren") \
  X(kKeyHide, "Ctrl+Alt+Shift+H", "Strg+Alt+Umschalt+H") \
  X(kMenuName, "You are {0}: &change…", "S&ie sind {0}: ändern…") \
  X(kMenuSettings, "&Settings…", "Eins&tellungen…") \
  X(kMenuHelp, "&Help", "&Hilfe") \
  X(kMenuQuit, "&Quit Sprites", "Sprites &beenden") \
  X(kHelpHowTo, "&How to play", "&So geht es") \
  X(kHelpDiagnostics, "&Copy diagnostics", "&Diagnose kopieren") \
  X(kHelpUpdate, "Check for &updates", "Nach &Updates suchen") \
  X(kHelpAbout, "&About Sprites", "Ü&ber Sprites") \
  /* The menu of a sprite. */ \
  X(kSpriteFrom, "{0}, from {1}", "{0}, von {1}") \
  X(kSpriteOnItsWay, "{0} is on its way to {1}.", "{0} ist unterwegs zu {1}.") \
  X(kJourneyOne, "1 desktop since {0}", "1 Desktop seit {0}") \
  X(kJourneyMany, "{0} desktops since {1}", "{0} Desktops seit {1}") \
  X(kJourneyDrawnBy, "{0}, drawn by {1}", "{0}, gezeichnet von {1}") \
  X(kJourneyFrom, "{0}; from {1}", "{0}; von {1}") \
  X(kJourneyByWay, "{0}; by way of {1}", "{0}; über {1}") \
  X(kJourneyFromByWay, "{0}; from {1} by way of {2}", "{0}; von {1} über {2}") \
  X(kJourneyToday, "today", "heute") \
  X(kAwayWhere, "Where is {0}?", "Wo ist {0}?") \
  X(kAwayWith, "{0}: last seen with {1}, {2}", "{0}: zuletzt bei {1}, {2}") \
  X(kAwayUnknown, "{0}: on its way, {1}", "{0}: unterwegs, {1}") \
  X(kAwayHome, "{0} is home: {1}", "{0} ist wieder da: {1}") \
  X(kSunday, "Sunday", "Sonntag") \
  X(kMonday, "Monday", "Montag") \
  X(kTuesday, "Tuesday", "Dienstag") \
  X(kWednesday, "Wednesday", "Mittwoch") \
  X(kThursday, "Thursday", "Donnerstag") \
  X(kFriday, "Friday", "Freitag") \
  X(kSaturday, "Saturday", "Samstag") \
  X(kSpriteThrow, "&Throw", "Wer&fen") \
  X(kSpriteSteer, "Steer with the &keys", "Mit &Tasten steuern") \
  X(kSpritePotato, "M&ake it a hot potato", "Zur heißen &Kartoffel machen") \
  /* The edges that one can throw or look over. */ \
  X(kEdgeLeft, "&Left", "&Links") \
  X(kEdgeRight, "&Right", "&Rechts") \
  X(kEdgeUp, "&Up", "&Oben") \
  X(kEdgeDown, "&Down", "&Unten") \
  X(kEdgeLeftTo, "&Left: {0}", "&Links: {0}") \
  X(kEdgeRightTo, "&Right: {0}", "&Rechts: {0}") \
  X(kEdgeUpTo, "&Up: {0}", "&Oben: {0}") \
  X(kEdgeDownTo, "&Down: {0}", "&Unten: {0}") \
  X(kSpriteCut, "&Cut out its background", "&Hintergrund ausschneiden") \
  X(kSpriteUncut, "Bring its &background back", "Hintergrund &zurückholen") \
  X(kSpritePutAway, "&Put away", "&Wegräumen") \
  X(kSpriteHide, "&Hide this picture", "Dieses Bild &ausblenden") \
  X(kSpriteMute, "&Mute {0}", "{0} &stummschalten") \
  X(kSpriteReport, "R&eport this picture…", "Dieses Bild &melden…") \
  /* The state of the connection: the tip of the icon, and the first line of its menu. */ \
  X(kStartFailed, "Sprites runs already, but does not answer. Perhaps it runs in another session of yours on this computer: quit it there.", "Sprites läuft schon, antwortet aber nicht. Vielleicht läuft es in einer anderen Sitzung von Ihnen auf diesem Computer: Beenden Sie es dort.") \
  X(kStatusAlone, "Connected to {0}. You are alone here", "Verbunden mit {0}. Sie sind hier allein") \
  X(kStatusTogether, "Connected to {0}", "Verbunden mit {0}") \
  X(kStatusWorld, "Connected to {0}, world {1}", "Verbunden mit {0}, Welt {1}") \
  X(kStatusPrivate, "Connected to {0}, in a private world", "Verbunden mit {0}, in einer privaten Welt") \
  X(kStatusJoining, "Connecting to {0} …", "Verbindung zu {0} …") \
  X(kStatusUnreachable, "Can't reach {0}, trying again", "{0} ist nicht erreichbar, neuer Versuch läuft") \
  X(kStatusCertificateDate, "The certificate of {0} is not valid now: is this computer's clock right?", "Das Zertifikat von {0} gilt jetzt nicht: Stimmt die Uhr dieses Computers?") \
  X(kStatusCertificateName, "Another server answers for {0}: its certificate is not for this name", "Ein anderer Server antwortet für {0}: Sein Zertifikat gilt nicht für diesen Namen") \
  X(kStatusCertificateUnknown, "This computer does not trust the certificate of {0}", "Dieser Computer vertraut dem Zertifikat von {0} nicht") \
  X(kStatusWatched, "Looking in now: {0}", "Sieht gerade herein: {0}") \
  X(kStatusAs, "{0}, as {1}", "{0}, als {1}") \
  X(kStatusNoRelay, "Not connected: choose a relay", "Nicht verbunden: bitte ein Relay wählen") \
  /* Toasts. */ \
  X(kToastArrived, "{0} has come", "{0} ist da") \
  X(kToastArrivedFrom, "From {0}.", "Von {0}.") \
  X(kToastReturned, "{0} is back", "{0} ist zurück") \
  X(kToastFull, "No more sprites", "Keine weiteren Figuren") \
  X(kToastFullText, "You have {0} sprites, as many as the settings allow. Throw some over an edge.", "Sie haben {0} Figuren, so viele, wie die Einstellungen erlauben. Werfen Sie einige über einen Rand.") \
  X(kToastGuest, "{0} came from somebody", "{0} kam von jemandem") \
  X(kToastGuestText, "Throw it on over an edge.", "Werfen Sie die Figur über einen Rand weiter.") \
  X(kToastSharing, "Others see the sprites", "Andere sehen die Figuren") \
  X(kToastSharingText, "This Windows can't leave them out of screenshots and shared screens.", "Dieses Windows kann sie auf Bildschirmfotos und -freigaben nicht weglassen.") \
  X(kToastClickThrough, "Clicks go through the sprites", "Klicks gehen durch die Figuren") \
  X(kToastClickThroughText, "You turn that off in the menu of the icon by the clock.", "Abschalten: im Menü des Symbols bei der Uhr.") \
  X(kToastClickThroughTextNoIcon, "You turn that off in the menu: sprites --menu opens it.", "Abschalten: im Menü, das sprites --menu öffnet.") \
  X(kToastAllHidden, "All sprites are hidden", "Alle Figuren sind verborgen") \
  X(kToastAllHiddenKey, "{0} shows them again, wherever you type.", "{0} zeigt sie wieder, in jedem Programm.") \
  X(kToastAllHiddenIcon, "The menu of the icon by the clock shows them again.", "Das Menü des Symbols bei der Uhr zeigt sie wieder.") \
  X(kToastAllHiddenStart, "Start Sprites once more to see them again.", "Starten Sie Sprites noch einmal, dann sind sie wieder da.") \
  X(kToastRefused, "The relay does not let us in", "Das Relay lässt uns nicht hinein") \
  X(kToastOperator, "From the operator of the relay", "Vom Betreiber des Relays") \
  X(kToastPictureGone, "A picture is gone", "Ein Bild ist weg") \
  X(kToastPictureGoneText, "The operator of the relay has removed it.", "Der Betreiber des Relays hat es entfernt.") \
  X(kToastUnreachable, "Can't reach {0}, trying again", "{0} ist nicht erreichbar, neuer Versuch läuft") \
  X(kToastUnreachableText, "Are you online? Another relay: right-click a sprite, then \"Open a link\".", "Sind Sie online? Ein anderes Relay: Rechtsklick auf eine Figur, dann „Link öffnen“.") \
  X(kToastFriendGone, "The invitation has ended", "Die Einladung ist abgelaufen") \
  X(kToastFriendGoneText, "You are in your friend's world, at another place.", "Sie sind in der Welt Ihres Freundes, aber an einem anderen Platz.") \
  X(kToastFriendGoneCommons, "You are in the world that everybody is in. Ask your friend for a new link.", "Sie sind in der Welt, in der alle sind. Bitten Sie um einen neuen Link.") \
  X(kToastInvited, "The link is copied", "Der Link ist kopiert") \
  X(kToastInvitedText, "Send it to a friend. Opening it seats your friend next to you.", "Schicken Sie ihn weiter: Wer ihn öffnet, sitzt neben Ihnen.") \
  X(kToastInvitedNetwork, "Send it to a friend in your network. It has the address {0}, because localhost means this computer only.", "Für jemanden in Ihrem Netz. Er enthält die Adresse {0}, denn localhost meint nur diesen Computer.") \
  X(kToastInvitedHere, "It works on this computer only: its relay is localhost.", "Er gilt nur auf diesem Computer: Sein Relay ist localhost.") \
  X(kToastNotInvited, "There is no invitation yet", "Es gibt noch keine Einladung") \
  X(kToastNotInvitedText, "You can invite a friend once you are connected.", "Einladen geht, sobald Sie verbunden sind.") \
  X(kToastDiagnostics, "The diagnostics are copied", "Die Diagnose ist kopiert") \
  X(kToastDiagnosticsText, "They hold no name, no world and no key. Paste them into a message.", "Sie enthält keinen Namen, keine Welt und keinen Schlüssel. Fügen Sie sie in eine Nachricht ein.") \
  X(kToastNotCopied, "Nothing was copied", "Nichts wurde kopiert") \
  X(kToastNotCopiedText, "Another program holds the clipboard. Try again.", "Ein anderes Programm hält die Zwischenablage. Versuchen Sie es noch einmal.") \
  X(kToastHidden, "The picture is hidden", "Das Bild ist ausgeblendet") \
  X(kToastHiddenText, "Sprites with it look like a parcel. You can show it again in the settings.", "Figuren damit sehen wie ein Paket aus. In den Einstellungen blenden Sie es wieder ein.") \
  X(kToastMuted, "{0} is muted", "{0} ist stummgeschaltet") \
  X(kToastMutedText, "You do not hear {0} any more, and what {0} throws to you goes on to the next desktop.", "Sie hören {0} nicht mehr, und was {0} zu Ihnen wirft, fliegt zum nächsten Desktop weiter.") \
  X(kToastGone, "{0} is not here any more", "{0} ist nicht mehr hier") \
  X(kToastGoneText, "The sprite stays with you.", "Die Figur bleibt bei Ihnen.") \
  X(kToastNotSaid, "Nobody heard that", "Das hat niemand gehört") \
  X(kToastPeekNothing, "Nothing to see there", "Dort ist nichts zu sehen") \
  X(kToastPeekHidden, "{0} does not show what is there.", "{0} zeigt nicht, was dort ist.") \
  X(kToastPeekNobody, "There is nobody beyond this edge.", "Hinter diesem Rand ist niemand.") \
  X(kToastReported, "The picture is reported", "Das Bild ist gemeldet") \
  X(kToastReportedText, "The operator of the relay looks at it.", "Der Betreiber des Relays sieht es sich an.") \
  X(kToastNotReported, "The report was not sent", "Die Meldung ging nicht hinaus") \
  X(kToastUpdate, "Sprites {0} is here", "Sprites {0} ist da") \
  X(kToastUpdateText, "Right-click a sprite, then Help, to get it.", "Rechtsklick auf eine Figur, dann Hilfe.") \
  X(kToastNoUpdate, "Sprites is up to date", "Sprites ist aktuell") \
  X(kToastNoUpdateText, "{0} offers no version newer than {1}.", "{0} bietet keine neuere Version als {1} an.") \
  X(kToastUpdateFailed, "The update can't be fetched", "Das Update ist nicht zu bekommen") \
  X(kToastUpdateFailedText, "The relay did not answer, or has no installer.", "Das Relay antwortet nicht oder hat kein Installationsprogramm.") \
  X(kToastUpdateWrongText, "The file is not the one that the relay announced. It was thrown away.", "Die Datei ist nicht die, die das Relay angekündigt hat. Sie wurde verworfen.") \
  X(kToastImport, "Can't import {0}", "{0} ist nicht lesbar") \
  X(kToastPicture, "The picture is saved", "Das Bild ist gespeichert") \
  X(kToastNoPicture, "No picture was saved", "Kein Bild wurde gespeichert") \
  X(kPhotographNothing, "No sprite can be seen.", "Es ist keine Figur zu sehen.") \
  X(kPhotographTooLarge, "The sprites are too far apart for one picture.", "Die Figuren sind zu weit auseinander für ein Bild.") \
  X(kPhotographNotWritten, "No file can be written to {0}. The disk may be full.", "In {0} lässt sich keine Datei schreiben. Vielleicht ist die Platte voll.") \
  X(kPhotographBusy, "The picture before is still being drawn. Try again in a moment.", "Das Bild davor wird noch gezeichnet. Versuchen Sie es gleich noch einmal.") \
  X(kToastCut, "{0} is cut out", "{0} ist ausgeschnitten") \
  X(kToastCutText, "A right click on it brings its background back.", "Ein Rechtsklick darauf holt den Hintergrund zurück.") \
  X(kToastNoFile, "Only files can be dropped here", "Hier lassen sich nur Dateien ablegen") \
  X(kToastNoFileText, "Save the picture to a file, then drop that on a sprite.", "Speichern Sie das Bild als Datei und legen Sie diese auf einer Figur ab.") \
  X(kToastSound, "{0}: the program's sound is played", "{0}: Der Klang des Programms ertönt") \
  X(kToastSounds, "Own sounds", "Eigene Klänge") \
  X(kToastSoundsText, "Put WAV files there: throw.wav, arrive.wav, land.wav, return.wav. Each is played instead of the program's sound.", "Legen Sie dort WAV-Dateien ab: throw.wav, arrive.wav, land.wav, return.wav. Jede ersetzt einen Klang des Programms.") \
  X(kToastSoundsNotOpened, "WAV files in this folder are played instead of the program's sounds: throw.wav, arrive.wav, land.wav, return.wav. {0}", "WAV-Dateien in diesem Ordner ersetzen die Klänge des Programms: throw.wav, arrive.wav, land.wav, return.wav. {0}") \
  X(kToastSettings, "Settings", "Einstellungen") \
  X(kToastNotSaved, "Can't save", "Speichern geht nicht") \
  X(kToastNotSavedText, "No file can be written to {0}. Sprites come and go again once that works.", "In {0} lässt sich keine Datei schreiben. Figuren kommen und gehen wieder, sobald das geht.") \
  X(kToastBadLink, "This link leads nowhere", "Dieser Link führt nirgendwohin") \
  X(kToastBadLinkText, "It is damaged, or not a link of a relay.", "Er ist beschädigt oder kein Link eines Relays.") \
  X(kToastNotTaken, "{0} did not come", "{0} ist nicht gekommen") \
  X(kToastNotTakenText, "{0} did not answer, does not have it any more, or sent a broken file.", "{0} antwortet nicht, hat die Figur nicht mehr oder hat eine beschädigte Datei geschickt.") \
  /* Why a sprite came back, or why the relay refused something. */ \
  X(kWhyNotConnected, "Not connected.", "Nicht verbunden.") \
  X(kWhyTooMany, "Too many are on the way.", "Zu viele sind unterwegs.") \
  X(kWhyMailboxFull, "The neighbour has no room for it now.", "Der Nachbar hat gerade keinen Platz dafür.") \
  X(kWhyTooFast, "That was too many at once. Wait a moment.", "Das waren zu viele auf einmal. Warten Sie einen Moment.") \
  X(kWhyPictureRefused, "The relay does not carry this picture.", "Das Relay nimmt dieses Bild nicht an.") \
  X(kWhyRelayBusy, "The relay has too much to do. Try again in a moment.", "Das Relay hat zu viel zu tun. Versuchen Sie es gleich noch einmal.") \
  X(kWhyRelayFull, "The relay is full. Sprites tries again.", "Das Relay ist voll. Sprites versucht es weiter.") \
  X(kWhyDraining, "The relay is stopping. Sprites tries again.", "Das Relay wird angehalten. Sprites versucht es weiter.") \
  X(kWhyBanned, "The operator has shut out your address.", "Der Betreiber hat Ihre Adresse ausgesperrt.") \
  X(kWhyTooManyHere, "Too many desktops join from your network. Sprites tries again.", "Aus Ihrem Netz kommen zu viele Desktops. Sprites versucht es weiter.") \
  X(kWhyStoreFull, "The relay has no room for new pictures.", "Das Relay hat keinen Platz für neue Bilder.") \
  X(kWhyUnreachable, "The relay did not answer.", "Das Relay hat nicht geantwortet.") \
  X(kWhyNotUnderstood, "The relay's answer makes no sense.", "Die Antwort des Relays ergibt keinen Sinn.") \
  /* Why a file can't be imported. */ \
  X(kImportTooMany, "Too many files at once.", "Zu viele Dateien auf einmal.") \
  X(kImportUnreadable, "The file can't be read, or is larger than {0} MiB.", "Die Datei ist nicht lesbar oder größer als {0} MiB.") \
  X(kImportNoMemory, "There is not enough memory to convert the picture.", "Der Speicher reicht nicht, um das Bild umzuwandeln.") \
  X(kImportFailed, "The file can't be imported.", "Die Datei lässt sich nicht importieren.") \
  /* Why an own sound can't be played. */ \
  X(kSoundKind, "It is not a WAV file, or has no sound in it.", "Das ist keine WAV-Datei, oder es ist kein Klang darin.") \
  X(kSoundFormat, "It is a WAV file of another kind. Save it as PCM with 16 bits, in mono or stereo.", "Das ist eine WAV-Datei anderer Art. Speichern Sie sie als PCM mit 16 Bit, in Mono oder Stereo.") \
  X(kSoundTooLong, "It lasts longer than {0} seconds.", "Der Klang ist länger als {0} Sekunden.") \
  X(kSoundTooLarge, "The file is larger than {0} MiB, or can't be read.", "Die Datei ist größer als {0} MiB oder nicht lesbar.") \
  /* Why a picture can't become a sprite. */ \
  X(kPictureKind, "The file is not a picture of a known kind: PNG, GIF or BMP.", "Die Datei ist kein Bild einer bekannten Art: PNG, GIF oder BMP.") \
  X(kPictureKindLinux, "This is not a picture that Sprites knows: PNG, JPEG, GIF, BMP or .spr.", "Das ist kein Bild, das Sprites kennt: PNG, JPEG, GIF, BMP oder .spr.") \
  X(kPictureKindWindows, "It is not a picture that this program or Windows can read, such as PNG, JPEG, GIF or BMP.", "Das ist kein Bild, das dieses Programm oder Windows lesen kann, etwa PNG, JPEG, GIF oder BMP.") \
  X(kPictureNoCodec, "This Windows has no codec for {0}. The Microsoft Store has one: {1}.", "Diesem Windows fehlt ein Codec für {0}. Der Microsoft Store hat einen: {1}.") \
  X(kPictureDamaged, "The picture is damaged.", "Das Bild ist beschädigt.") \
  X(kPictureDamagedJpeg, "The picture is damaged, or a JPEG of an unusual kind.", "Das Bild ist beschädigt oder ein JPEG einer ungewöhnlichen Art.") \
  X(kPictureCutOff, "The picture is cut off.", "Das Bild ist abgeschnitten.") \
  X(kPictureCmyk, "The picture has colours for printing (CMYK). Save it with RGB colours.", "Das Bild hat Druckfarben (CMYK). Speichern Sie es mit RGB-Farben.") \
  X(kPictureNoPixels, "The picture has no pixels: it is {0}×{1} pixels.", "Das Bild hat keine Pixel: Es ist {0}×{1} Pixel groß.") \
  X(kPictureTooLarge, "The picture is too large: {0}×{1} pixels; make it smaller.", "Das Bild ist zu groß: {0}×{1} Pixel. Verkleinern Sie es.") \
  X(kPictureTooLargeFrames, "The picture is too large: {0}×{1} pixels in {2} frames; make it smaller.", "Das Bild ist zu groß: {0}×{1} Pixel in {2} Einzelbildern. Verkleinern Sie es.") \
  X(kPictureTooLargeUnpacked, "The picture is too large: {0} MiB of pixels; make it smaller, or save it with 8 bits a colour.", "Das Bild ist zu groß: {0} MiB Pixel. Verkleinern Sie es, oder speichern Sie es mit 8 Bit je Farbe.") \
  X(kPictureFileTooLarge, "The file is larger than {0} MiB.", "Die Datei ist größer als {0} MiB.") \
  X(kPictureFrames, "The picture has no frames of its size, or too many.", "Das Bild hat keine Einzelbilder seiner Größe oder zu viele.") \
  X(kPictureTransparent, "The picture is fully transparent, so nothing would be seen.", "Das Bild ist ganz durchsichtig, also wäre nichts zu sehen.") \
  X(kPictureUnfit, "The picture does not fit into a sprite.", "Das Bild passt in keine Figur.") \
  X(kPicturePackDamaged, "The archive is damaged, or packed in an unusual way.", "Das Archiv ist beschädigt oder ungewöhnlich gepackt.") \
  X(kPicturePackTooMany, "There are more than {0} files in it.", "Es enthält mehr als {0} Dateien.") \
  X(kPicturePackNoActions, "There is no actions.xml in it.", "Es enthält keine actions.xml.") \
  X(kPicturePackBroken, "Its actions.xml is damaged, or too large.", "Die actions.xml darin ist beschädigt oder zu groß.") \
  X(kPicturePackNoStand, "Its actions.xml has no action Stand with pictures that are there.", "Die actions.xml darin hat keine Aktion Stand mit Bildern, die da sind.") \
  X(kPicturePackNoPng, "{0} is not a PNG.", "{0} ist kein PNG.") \
  X(kPicturePackTooLarge, "Its pictures have more than {0} pixels.", "Die Bilder darin haben mehr als {0} Pixel.") \
  X(kPictureGifDraws, "The GIF draws more than {0} pixels in its frames; make it smaller or shorter.", "Das GIF zeichnet in seinen Einzelbildern mehr als {0} Pixel. Verkleinern oder kürzen Sie es.") \
  X(kPictureGifCutOff, "The GIF is cut off.", "Das GIF ist abgeschnitten.") \
  X(kPictureGifEmpty, "The GIF has no frame: it is cut off or damaged.", "Das GIF hat kein Einzelbild: Es ist abgeschnitten oder beschädigt.") \
  /* Why a .spr is rejected: its container. {0} is a type of chunk where there is one. */ \
  X(kSheetNoPng, "The file does not start with the PNG signature.", "Die Datei beginnt nicht mit der Signatur von PNG.") \
  X(kSheetTooLarge, "The file has {0} bytes; at most {1} are allowed.", "Die Datei hat {0} Bytes, höchstens {1} sind erlaubt.") \
  X(kSheetCutOff, "The file is cut off at byte {0}, inside a chunk.", "Die Datei ist bei Byte {0} abgeschnitten, mitten in einem Chunk.") \
  X(kSheetChunkType, "At byte {0} a chunk's type is not four letters.", "Bei Byte {0} besteht der Typ eines Chunks nicht aus vier Buchstaben.") \
  X(kSheetChunkLength, "The {0} chunk claims {1} bytes and the file ends before them.", "Der Chunk {0} gibt {1} Bytes an, und vorher endet die Datei.") \
  X(kSheetChunkCrc, "The CRC of the {0} chunk at byte {1} is wrong: the file is damaged.", "Die CRC des Chunks {0} bei Byte {1} stimmt nicht: Die Datei ist beschädigt.") \
  X(kSheetChunks, "The file has more than {0} chunks.", "Die Datei hat mehr als {0} Chunks.") \
  X(kSheetChunkForeign, "A .spr has no {0} chunk.", "Eine .spr-Datei hat keinen Chunk {0}.") \
  X(kSheetFirstChunk, "The first chunk is {0}; it must be IHDR.", "Der erste Chunk ist {0}, er muss IHDR sein.") \
  X(kSheetHeaderLength, "IHDR does not have 13 bytes.", "IHDR hat nicht 13 Bytes.") \
  X(kSheetHeaderTwice, "IHDR appears a second time.", "IHDR kommt ein zweites Mal vor.") \
  X(kSheetHeaderMethod, "IHDR names a compression, filter or interlace method that PNG does not have.", "IHDR nennt ein Verfahren für Kompression, Filter oder Interlacing, das PNG nicht hat.") \
  X(kSheetSize, "The sheet is {0}×{1} pixels; a side has 1 to {2} pixels.", "Das Blatt ist {0}×{1} Pixel groß, eine Seite hat 1 bis {2} Pixel.") \
  X(kSheetColourType, "PNG has no colour type {0} with {1} bits.", "PNG hat keinen Farbtyp {0} mit {1} Bit.") \
  X(kSheetPaletteOrder, "PLTE must appear once, before IDAT.", "PLTE muss einmal vorkommen, vor IDAT.") \
  X(kSheetPaletteSize, "PLTE must hold 1 to 256 colours of 3 bytes.", "PLTE muss 1 bis 256 Farben zu 3 Bytes enthalten.") \
  X(kSheetPaletteMissing, "A sheet with a palette needs a PLTE chunk before IDAT.", "Ein Blatt mit Palette braucht einen Chunk PLTE vor IDAT.") \
  X(kSheetAlphaOrder, "tRNS must appear once, before IDAT.", "tRNS muss einmal vorkommen, vor IDAT.") \
  X(kSheetAlphaSize, "tRNS must fit the colours: one grey, one colour, or as many as the palette before it.", "tRNS muss zu den Farben passen: ein Grau, eine Farbe oder so viele wie die Palette davor.") \
  X(kSheetPixelsApart, "The IDAT chunks must follow one another.", "Die Chunks IDAT müssen aufeinander folgen.") \
  X(kSheetPixelsMissing, "The file has no IDAT chunk.", "Die Datei hat keinen Chunk IDAT.") \
  X(kSheetPixelsLength, "The IDAT chunks do not inflate to the {0} bytes the header promises.", "Die Chunks IDAT ergeben entpackt nicht die {0} Bytes, die der Kopf verspricht.") \
  X(kSheetPixelsTooLarge, "The sheet inflates to {0} bytes; at most {1} are allowed.", "Das Blatt hat entpackt {0} Bytes, höchstens {1} sind erlaubt.") \
  X(kSheetPixelsPacked, "The IDAT chunks are not one whole zlib stream.", "Die Chunks IDAT sind kein ganzer Datenstrom von zlib.") \
  X(kSheetPixelsWrong, "The pixels can't be decoded.", "Die Pixel lassen sich nicht entschlüsseln.") \
  X(kSheetEndNotEmpty, "IEND must be empty.", "IEND muss leer sein.") \
  X(kSheetEndMissing, "The file ends before its IEND chunk.", "Die Datei endet vor ihrem Chunk IEND.") \
  X(kSheetEndPassed, "Bytes follow the IEND chunk, which must end the file.", "Nach dem Chunk IEND, der die Datei beenden muss, folgen Bytes.") \
  X(kSheetTextKeyword, "The iTXt chunk's keyword is not \"sprite\".", "Das Schlüsselwort des Chunks iTXt ist nicht „sprite“.") \
  X(kSheetTextPacked, "The iTXt chunk is compressed; a description is stored as it is.", "Der Chunk iTXt ist komprimiert, eine Beschreibung steht unverändert darin.") \
  X(kSheetTextCutOff, "The iTXt chunk ends before its text.", "Der Chunk iTXt endet vor seinem Text.") \
  X(kSheetTextUtf8, "The description is not UTF-8.", "Die Beschreibung ist kein UTF-8.") \
  X(kSheetTextOnce, "A .spr has exactly one iTXt chunk.", "Eine .spr-Datei hat genau einen Chunk iTXt.") \
  X(kSheetNoMemory, "There is no memory to pack the picture.", "Der Speicher reicht nicht, um das Bild zu packen.") \
  /* Why a .spr is rejected: its description. {0} is the name of a field in the JSON. */ \
  X(kSheetJsonTooLong, "The description has {0} bytes; at most {1} are allowed.", "Die Beschreibung hat {0} Bytes, höchstens {1} sind erlaubt.") \
  X(kSheetJsonInvalid, "The description is not valid JSON.", "Die Beschreibung ist kein gültiges JSON.") \
  X(kSheetRootObject, "The description is refused: the description must be an object.", "Die Beschreibung wird abgelehnt: Sie muss ein Objekt sein.") \
  X(kSheetObject, "The description is refused: {0} must be an object.", "Die Beschreibung wird abgelehnt: {0} muss ein Objekt sein.") \
  X(kSheetNumber, "The description is refused: {0} must be a number from {1} up to {2}.", "Die Beschreibung wird abgelehnt: {0} muss eine Zahl von {1} bis {2} sein.") \
  X(kSheetWhole, "The description is refused: {0} must be a whole number from {1} to {2}.", "Die Beschreibung wird abgelehnt: {0} muss eine ganze Zahl von {1} bis {2} sein.") \
  X(kSheetPlainText, "The description is refused: {0} must be text without control or invisible characters.", "Die Beschreibung wird abgelehnt: {0} muss ein Text ohne Steuerzeichen und unsichtbare Zeichen sein.") \
  X(kSheetTextLength, "The description is refused: {0} has {1} bytes of UTF-8; {2} to {3} are allowed.", "Die Beschreibung wird abgelehnt: {0} hat {1} Bytes in UTF-8, {2} bis {3} sind erlaubt.") \
  X(kSheetFormat, "The description is refused: format must be \"{0}\".", "Die Beschreibung wird abgelehnt: format muss „{0}“ sein.") \
  X(kSheetGrid, "The description is refused: the frames do not divide the sheet.", "Die Beschreibung wird abgelehnt: Die Einzelbilder teilen das Blatt nicht ohne Rest.") \
  X(kSheetGridFrames, "The description is refused: the grid has {0} frames; at most {1} are allowed.", "Die Beschreibung wird abgelehnt: Das Raster hat {0} Einzelbilder, höchstens {1} sind erlaubt.") \
  X(kSheetHitbox, "The description is refused: hitbox must be [x, y, width, height].", "Die Beschreibung wird abgelehnt: hitbox muss [x, y, Breite, Höhe] sein.") \
  X(kSheetFrameList, "The description is refused: {0}.frames must list 1 to {1} frames.", "Die Beschreibung wird abgelehnt: {0}.frames muss 1 bis {1} Einzelbilder aufzählen.") \
  X(kSheetAnimations, "The description is refused: there are {0} animations; at most {1}.", "Die Beschreibung wird abgelehnt: Es sind {0} Animationen, höchstens {1} sind erlaubt.") \
  X(kSheetAnimationName, "The description is refused: an animation name is not 1 to 32 of a–z, 0–9 and -, letter first.", "Die Beschreibung wird abgelehnt: Der Name einer Animation besteht nicht aus 1 bis 32 Zeichen a–z, 0–9 und -, zuerst ein Buchstabe.") \
  X(kSheetIdle, "The description is refused: animations.idle is missing; it is the one that is required.", "Die Beschreibung wird abgelehnt: animations.idle fehlt, und nur sie ist nötig.") \
  /* What is wrong in the file of the settings. */ \
  X(kFileOfSettingsTooLong, "The settings have more than {0} bytes; the defaults are used.", "Die Einstellungen haben mehr als {0} Bytes. Die Vorgaben gelten.") \
  X(kFileOfSettingsInvalid, "The settings are not a JSON object; the defaults are used.", "Die Einstellungen sind kein JSON-Objekt. Die Vorgaben gelten.") \
  X(kFileOfSettingsRelay, "relay: \"{0}\" is not an address such as https://relay.example.", "relay: „{0}“ ist keine Adresse wie https://relay.example.") \
  /* What is wrong with a file of the program itself, {0}, and what became of it. */ \
  X(kToastOwnFile, "A file can't be read", "Eine Datei ist nicht lesbar") \
  X(kFileOwnFailed, "{0} can't be read: another program has it open, or you may not read it.", "{0} ist nicht lesbar: Ein anderes Programm hat die Datei geöffnet, oder Sie dürfen sie nicht lesen.") \
  X(kFileOwnTooLong, "{0} can't be read: it is too large.", "{0} ist nicht lesbar: Die Datei ist zu groß.") \
  X(kFileOwnDamaged, "{0} can't be read: it is damaged.", "{0} ist nicht lesbar: Die Datei ist beschädigt.") \
  X(kFileOwnPartly, "A part of {0} can't be read: it is damaged.", "Ein Teil von {0} ist nicht lesbar: Er ist beschädigt.") \
  X(kFileOwnMoved, "The whole file is kept as {0}.", "Die ganze Datei bleibt als {0} erhalten.") \
  X(kFileOwnStays, "It can't be renamed to {0} yet. Until that works, nothing is saved.", "Sie lässt sich noch nicht in {0} umbenennen. Bis das geht, wird nichts gespeichert.") \
  /* The bubbles on the first sprite. */ \
  X(kBubbleDrag, "Hello!\nDrag me with the mouse.", "Hallo!\nZieh mich mit der Maus.") \
  X(kBubbleStroke, "Now stroke me:\nto and fro, without a button.", "Jetzt streichle mich:\nhin und her, ohne Taste.") \
  X(kBubbleThrow, "And now throw me!\nPast an edge I land next door.", "Und jetzt wirf mich!\nHinter dem Rand lande ich nebenan.") \
  X(kGameHot, "🔥 Hot potato! Throw it on", "🔥 Heiße Kartoffel! Weiterwerfen") \
  X(kGameBurnt, "💥 {0}, the hot potato, went off here.", "💥 {0}, die heiße Kartoffel, ist hier losgegangen.") \
  X(kGameBurntThere, "💥 {0}, the hot potato, went off, and not here.", "💥 {0}, die heiße Kartoffel, ist losgegangen, und nicht hier.") \
  X(kGameKeptUp, "Kept up over {1} edges! Don’t let it touch the ground", "Über {1} Ränder oben gehalten! Nicht den Boden berühren lassen") \
  X(kGameDropped, "{0} was kept up over {1} edges.", "{0} blieb über {1} Ränder oben.") \
  X(kBubbleCaught, "{0} is with {1} now.", "{0} ist jetzt bei {1}.") \
  X(kBubbleFriend, "{0} is next door now!", "{0} ist jetzt nebenan!") \
  X(kBubbleComeBack, "Shall I come back?\nClick me.", "Soll ich wiederkommen?\nKlick mich an.") \
  X(kBubbleName, "Others see you as {0}.\nChange it, or invite a friend: right-click me.", "Andere sehen dich als {0}.\nÄndern oder jemanden einladen: Rechtsklick auf mich.") \
  X(kBubbleAlone, "Nobody is next door yet.\nRight-click me to invite a friend.", "Noch ist niemand nebenan.\nRechtsklick: Lade jemanden ein.") \
  X(kBubbleUnreachable, "I can't reach {0}.\nI keep trying. Another relay: right-click me.", "Ich erreiche {0} nicht.\nIch versuche es weiter. Anderes Relay: Rechtsklick.") \
  X(kBubbleKeys, "{0}: arrow keys and space.\nCtrl and an arrow key throw me.\nTab: the next one. Esc: stop.\nW, H, L: wave, heart, laugh.", "{0}: Pfeiltasten und Leertaste.\nStrg und Pfeiltaste werfen mich.\nTab: die nächste Figur. Esc: Schluss.\nW, H, L: winken, Herz, lachen.") \
  /* The window that asks for a link. */ \
  X(kLinkTitle, "Sprites", "Sprites") \
  X(kLinkWelcome, "Welcome to Sprites", "Willkommen bei Sprites") \
  X(kLinkOpen, "Open a link", "Link öffnen") \
  X(kLinkWelcomeText, "Throw a sprite off the edge of your screen, and it lands on your neighbour's. A relay carries it: whose would you like to use?", "Werfen Sie eine Figur über den Rand Ihres Bildschirms, und sie landet beim Nachbarn. Ein Relay trägt sie hinüber: Welches möchten Sie nutzen?") \
  X(kLinkOpenText, "Paste the address of a relay, or the link that a friend has sent you.", "Fügen Sie die Adresse eines Relays ein, oder den Link, den Sie bekommen haben.") \
  X(kLinkField, "&Link or address", "&Link oder Adresse") \
  X(kLinkCue, "https://relay.example, or a friend's link", "https://relay.example oder ein Link") \
  X(kLinkName, "Your &name", "Ihr &Name") \
  X(kLinkNameCue, "what your neighbours see", "so sehen Sie die Nachbarn") \
  X(kLinkJoin, "&Join", "&Beitreten") \
  X(kLinkLater, "Not n&ow", "Nicht &jetzt") \
  X(kLinkReads, "Relay: {0}", "Relay: {0}") \
  X(kLinkReadsWorld, "Relay: {0}, world: {1}", "Relay: {0}, Welt: {1}") \
  X(kLinkReadsFriend, "Relay: {0}, next to a friend", "Relay: {0}, neben einem Freund") \
  X(kLinkReadsEntry, "{0}, from the gallery of {1}", "{0}, aus der Galerie von {1}") \
  X(kLinkReadsInvitation, "An invitation to the relay you are at", "Eine Einladung zu Ihrem jetzigen Relay") \
  X(kLinkWrong, "This is not the address of a relay, nor an invitation.", "Das ist weder die Adresse eines Relays noch eine Einladung.") \
  X(kLinkNeedsRelay, "This invitation does not say which relay it is for. Ask for the whole link.", "Diese Einladung nennt ihr Relay nicht. Bitten Sie um den ganzen Link.") \
  /* The settings. */ \
  X(kSettingsTitle, "Sprites: settings", "Sprites: Einstellungen") \
  X(kSettingsPageYou, "You", "Sie") \
  X(kSettingsPageSprites, "Sprites", "Figuren") \
  X(kSettingsPageProgram, "Program", "Programm") \
  X(kSettingsName, "Your &name", "Ihr &Name") \
  X(kSettingsNameCue, "what your neighbours see", "so sehen Sie die Nachbarn") \
  X(kSettingsPlace, "&Where you are", "&Wo Sie sind") \
  X(kSettingsPlaceCue, "the address of a relay, or a friend's link", "Adresse eines Relays oder ein Link") \
  X(kSettingsWorld, "Wor&ld", "Wel&t") \
  X(kSettingsWorldCue, "empty: the public world", "leer: die öffentliche Welt") \
  X(kSettingsAccept, "&Pictures shown", "&Bilder von") \
  X(kSettingsAcceptOwn, "Only mine and those of the program", "Nur meine und die des Programms") \
  X(kSettingsAcceptFriends, "Everybody's in private worlds", "In privaten Welten von allen") \
  X(kSettingsAcceptAll, "Everybody's", "Von allen") \
  X(kSettingsScale, "Si&ze", "&Größe") \
  X(kSettingsOpacity, "Opacity", "Deckkraft") \
  X(kSettingsLimit, "Own sprites at &once", "Eigene &Figuren zugleich") \
  X(kSettingsDisk, "&Disk for pictures", "&Platz für Bilder") \
  X(kSettingsSound, "So&unds", "&Klänge") \
  X(kSettingsVolume, "&Volume", "&Lautstärke") \
  X(kSettingsSounds, "Own sounds…", "Eigene Klänge…") \
  X(kSettingsNoSound, "No sounds: there is no sound device", "Keine Klänge: kein Audiogerät da") \
  X(kSettingsToasts, "Show no&tifications", "Ben&achrichtigungen") \
  X(kSettingsBubbles, "Speech &bubbles", "Spre&chblasen") \
  X(kSettingsSigns, "Sprites tell that you threw them", "Figuren sagen, dass Sie sie warfen") \
  X(kSettingsPeek, "Look ove&r edges with the pointer", "Mit dem Zeiger über Ränder se&hen") \
  X(kSettingsMonitors, "On &all monitors", "Auf allen &Monitoren") \
  X(kSettingsHide, "&Hide behind full-screen programs", "Hinter &Vollbild verbergen") \
  X(kSettingsQuiet, "&Quiet while you present", "R&uhe beim Präsentieren") \
  X(kSettingsCalm, "&Calm: sprites don't wander", "Ruhig: Figuren wan&dern nicht") \
  X(kSettingsPixels, "Sharp pi&xels: whole sizes only", "Scharfe Pi&xel: nur ganze Größen") \
  X(kSettingsClickThrough, "Clicks go through sprites: no throwing and steering with the mouse", "Klicks gehen durch die Figuren: kein Werfen und Steuern mit der Maus") \
  X(kSettingsSharing, "Leave out o&f screenshots and shared screens", "Nicht auf Bildschirmf&otos und -freigaben") \
  X(kSettingsAsk, "As&k before closing", "Vor dem Beenden f&ragen") \
  X(kSettingsStart, "Start with W&indows", "M&it Windows starten") \
  X(kSettingsRestore, "R&estore windows moved by a game", "Fenster nach Spielen &zurückstellen") \
  X(kSettingsLanguage, "Lan&guage", "&Sprache") \
  X(kSettingsLanguageSystem, "As Windows", "Wie Windows") \
  X(kSettingsLanguageSystemLinux, "As the system", "Wie das System") \
  X(kSettingsShowHidden, "&Show hidden pictures again ({0})", "Ausgebl&endete Bilder zeigen ({0})") \
  X(kSettingsTooLong, "{0}: too long. The limit is {1} bytes; a letter outside English takes 2 to 4.", "{0}: zu lang. Höchstens {1} Bytes; ein Umlaut braucht 2.") \
  X(kSettingsBadPlace, "Where you are: enter an address such as https://relay.example, or a link.", "Wo Sie sind: Geben Sie eine Adresse wie https://relay.example oder einen Link ein.") \
  X(kSettingsBadLimit, "Own sprites at once: enter a number from {0} to {1}.", "Eigene Figuren zugleich: Geben Sie eine Zahl von {0} bis {1} ein.") \
  X(kSettingsBadDisk, "Disk for pictures: enter a size from {0} to {1} MiB.", "Platz für Bilder: Geben Sie eine Größe von {0} bis {1} MiB ein.") \
  X(kSettingsNameHeading, "Your name", "Ihr Name") \
  X(kSettingsNameText, "Your neighbours see it when you throw a sprite, and when you say something.", "Ihre Nachbarn sehen ihn, wenn Sie eine Figur werfen und wenn Sie etwas sagen.") \
  /* The line that the person says, and what was said. */ \
  X(kSayTitle, "Sprites: say something", "Sprites: etwas sagen") \
  X(kSayLabel, "&Say to those around you", "Zu den &anderen sagen") \
  X(kSaySend, "Sa&y", "Sa&gen") \
  X(kSayClose, "&Close", "S&chließen") \
  X(kSayTooLong, "Too long. The limit is {0} bytes; a letter outside English takes 2 to 4.", "Zu lang. Höchstens {0} Bytes; ein Umlaut braucht 2.") \
  X(kSayNobody, "Nobody is here to hear you.", "Niemand ist da, der Sie hört.") \
  X(kSayOne, "1 heard you.", "1 Desktop hat Sie gehört.") \
  X(kSayMany, "{0} heard you.", "{0} Desktops haben Sie gehört.") \
  X(kSayDone, "Said.", "Gesagt.") \
  X(kSayTooFast, "That was too fast. Wait a moment, then press Enter again.", "Das war zu schnell. Warten Sie kurz, dann noch einmal Enter.") \
  X(kSayOff, "The operator of this relay has turned sayings off.", "Der Betreiber dieses Relays hat das Sprechen abgeschaltet.") \
  X(kSayMalformed, "This text has characters that cannot be said. Change it and press Enter again.", "Dieser Text hat Zeichen, die nicht gesagt werden können. Ändern Sie ihn, dann noch einmal Enter.") \
  X(kSayBusy, "The relay is busy. Press Enter again in a moment.", "Das Relay ist beschäftigt. Drücken Sie gleich noch einmal Enter.") \
  X(kSayLost, "The connection was lost before the relay answered. Press Enter to say it again.", "Die Verbindung riss ab, bevor das Relay geantwortet hat. Mit Enter sagen Sie es noch einmal.") \
  X(kCompanyMenu, "&Who is here…", "Wer &hier ist…") \
  X(kCompanyTitle, "Sprites: who is here", "Sprites: wer hier ist") \
  X(kCompanyWhere, "Where", "Wo") \
  X(kCompanyLeft, "{0} to the left", "{0} nach links") \
  X(kCompanyRight, "{0} to the right", "{0} nach rechts") \
  X(kCompanyUp, "{0} up", "{0} nach oben") \
  X(kCompanyDown, "{0} down", "{0} nach unten") \
  X(kCompanyAway, "away", "abwesend") \
  X(kCompanyNew, "has just come", "eben gekommen") \
  X(kCompanyAlone, "Nobody else is here yet", "Noch ist sonst niemand hier") \
  X(kCompanyHere, "{0} here", "{0} hier") \
  X(kCompanySome, "{0} here; these are your neighbours", "{0} hier; das sind Ihre Nachbarn") \
  X(kCompanySprite, "&Sprite", "&Figur") \
  X(kCompanyThrow, "&Throw", "&Werfen") \
  X(kCompanyThrowTo, "&Throw to {0}", "Zu {0} &werfen") \
  X(kCompanySwap, "Change s&eats", "&Plätze tauschen") \
  X(kSwapAsks, "{0} would like to change seats with you", "{0} möchte den Platz mit Ihnen tauschen") \
  X(kSwapBubble, "{0} would like to change seats with you.\nRight-click a sprite to answer.", "{0} möchte den Platz mit Ihnen tauschen.\nZum Antworten: Rechtsklick auf eine Figur.") \
  X(kSwapAccept, "Change seats with {0}", "Mit {0} den Platz tauschen") \
  X(kSwapDecline, "Stay here", "Hier bleiben") \
  X(kSwapAsked, "{0} was asked", "{0} wurde gefragt") \
  X(kSwapAskedText, "You change seats when {0} agrees.", "Wenn {0} zustimmt, tauschen Sie die Plätze.") \
  X(kSwapDone, "You have changed seats", "Sie haben den Platz getauscht") \
  X(kSwapDoneText, "{0} sits where you were.", "{0} sitzt jetzt, wo Sie waren.") \
  X(kSwapGone, "{0} does not sit there any more", "{0} sitzt nicht mehr dort") \
  X(kSwapGoneText, "You stay where you are. Look again who is here.", "Sie bleiben, wo Sie sind. Sehen Sie noch einmal nach, wer hier ist.") \
  X(kSwapOver, "{0} does not ask any more", "{0} fragt nicht mehr") \
  X(kSwapOverText, "You stay where you are.", "Sie bleiben, wo Sie sind.") \
  X(kSwapLater, "You can't change seats right now", "Platztausch geht gerade nicht") \
  X(kSwapLaterText, "Try again in a moment.", "Versuchen Sie es gleich noch einmal.") \
  X(kHeardTitle, "Sprites: what was said", "Sprites: was gesagt wurde") \
  X(kHeardTime, "Time", "Zeit") \
  X(kHeardWho, "Who", "Wer") \
  X(kHeardWhat, "What", "Was") \
  X(kHeardYou, "You", "Sie") \
  X(kHeardMissedOne, "1 saying was missed", "1 Äußerung ging verloren") \
  X(kHeardMissed, "{0} sayings were missed", "{0} Äußerungen gingen verloren") \
  X(kHeardNothing, "Nothing was said yet", "Noch wurde nichts gesagt") \
  X(kHeardMute, "&Mute {0}", "{0} &stummschalten") \
  X(kHeardUnmute, "&Hear {0} again", "{0} &wieder hören") \
  /* A report to the operator. */ \
  X(kReportTitle, "Sprites: report a picture", "Sprites: Bild melden") \
  X(kReportHeading, "Report this picture?", "Dieses Bild melden?") \
  X(kReportText, "{0} goes to the operator of {1}, who can remove it for everybody.", "{0} geht an den Betreiber von {1}, der es für alle entfernen kann.") \
  X(kReportReason, "&What is wrong with it? (optional)", "&Was stimmt damit nicht? (freiwillig)") \
  X(kReportHide, "&Hide it on my desktop too", "Auch bei mir &ausblenden") \
  X(kReportSend, "&Report", "&Melden") \
  /* Questions. */ \
  X(kAskCloseHeading, "Close Sprites?", "Sprites beenden?") \
  X(kAskCloseText, "You double-clicked a sprite. All sprites here will be back when Sprites starts again.", "Sie haben eine Figur doppelt angeklickt. Alle Figuren sind wieder da, wenn Sprites erneut startet.") \
  X(kAskCloseYes, "&Close", "&Beenden") \
  X(kAskCloseNo, "&Stay", "&Weiterspielen") \
  X(kAskCloseNever, "&Don't ask again", "&Nicht mehr fragen") \
  X(kAskMoveHeading, "Go to {0}?", "Zu {0} gehen?") \
  X(kAskMoveText, "A link wants to take you there. You would leave {0}; your sprites come along.", "Ein Link möchte Sie dorthin bringen. Sie verlassen dann {0}; Ihre Figuren kommen mit.") \
  X(kAskMoveYes, "&Go there", "&Hingehen") \
  X(kAskMoveNo, "&Stay here", "Hier&bleiben") \
  X(kAskTakeHeading, "Put {0} on your desktop?", "{0} auf Ihren Desktop holen?") \
  X(kAskTakeHeadingBy, "Put {0} by {1} on your desktop?", "{0} von {1} auf Ihren Desktop holen?") \
  X(kAskTakeText, "A link offers this sprite. Its picture comes from {0}.", "Ein Link bietet diese Figur an. Ihr Bild kommt von {0}.") \
  X(kAskTakeTextJoin, "A link offers this sprite. Its picture comes from {0}, and you join there.", "Ein Link bietet diese Figur an. Ihr Bild kommt von {0}, und dorthin gehen Sie auch.") \
  X(kAskTakeYes, "&Put it here", "&Herholen") \
  X(kAskTakeNo, "&No", "&Nein") \
  X(kAskPackHeading, "May others have {0}?", "Dürfen andere {0} bekommen?") \
  X(kAskPackText, "This sprite is made of a Shimeji pack. People you throw it to get its pictures. Does the licence of the pack allow that?", "Die Figur entsteht aus einem Shimeji-Paket. Wem Sie sie zuwerfen, der bekommt ihre Bilder. Erlaubt das die Lizenz des Pakets?") \
  X(kAskPackLeftOut, "\n\nLeft out, because sprites do no such thing: {0}.", "\n\nWeggelassen, weil Figuren das nicht tun: {0}.") \
  X(kAskPackYes, "&Yes, put it here", "&Ja, herholen") \
  X(kAskUpdateHeading, "Get Sprites {0}?", "Sprites {0} laden?") \
  X(kAskUpdateText, "{0} offers it. Sprites downloads the installer, checks it, and shows it to you. It installs nothing by itself.", "{0} bietet es an. Sprites lädt das Installationsprogramm, prüft es und zeigt es Ihnen. Es installiert nichts von selbst.") \
  X(kAskUpdateYes, "&Download", "&Herunterladen") \
  X(kAskUpdateNo, "Not &now", "&Nicht jetzt") \
  X(kHowToHeading, "How to play", "So geht es") \
  X(kHowToText, "Drag a sprite and let go: it flies. Past an edge it lands on your neighbour's desktop.\n\nStroke it with the mouse: it likes that, and it wakes up.\n\nClick it, then use the arrow keys and the space bar: it runs and jumps.\n\nRight-click it: throw, put away, hide its picture, invite a friend.\n\nDrop a picture or a Shimeji pack on it: that becomes a sprite too.\n\nIts menu has \"Say something\": your neighbours see it in a bubble. Rest the mouse at an edge: you see who is there.\n\nDouble-click it: Sprites closes.", "Ziehen Sie eine Figur und lassen Sie los: Sie fliegt. Hinter dem Rand landet sie beim Nachbarn.\n\nStreicheln Sie sie mit der Maus: Das mag sie, und sie wacht auf.\n\nKlick, dann Pfeiltasten und Leertaste: Sie läuft und springt.\n\nRechtsklick: werfen, wegräumen, Bild ausblenden, jemanden einladen.\n\nLassen Sie ein Bild oder ein Shimeji-Paket auf sie fallen: Auch das wird eine Figur.\n\nIm Menü: etwas sagen, Ihre Nachbarn sehen es als Sprechblase. Lassen Sie die Maus am Rand ruhen: Sie sehen, wer dort ist.\n\nDoppelklick: Sprites wird beendet.") \
  X(kAboutTitle, "About Sprites", "Über Sprites") \
  X(kAboutText, "Throw a sprite off the edge of your desktop, and it lands on your neighbour's.\n\nMIT licence; the characters are CC0.", "Werfen Sie eine Figur über den Rand Ihres Desktops, und sie landet beim Nachbarn.\n\nMIT-Lizenz; die Figuren sind CC0.") \
  /* Buttons. */ \
  X(kButtonOk, "OK", "OK") \
  X(kButtonCancel, "Cancel", "Abbrechen")
// clang-format on

#endif  // CLIENT_WIN_CORE_TEXT_TEXTS_TABLE_H_
