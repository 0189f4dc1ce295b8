//! Names of well-known openings, with their codes in the Encyclopaedia of Chess Openings (ECO).
//!
//! Openings are found by position, so the order of the moves does not matter, nor whether a game
//! starts with them or from a position after them.

use std::collections::HashMap;
use std::sync::OnceLock;

use shakmaty::Move;
use shakmaty::san::San;

use crate::position::Position;

/// Code, name and moves. A later line of a family has the moves of an earlier one and more.
const OPENINGS: &[(&str, &str, &str)] = &[
    ("A00", "Polish Opening", "b4"),
    ("A00", "Grob Attack", "g4"),
    ("A00", "Van Geet Opening", "Nc3"),
    ("A00", "Benko Opening", "g3"),
    ("A00", "Van 't Kruijs Opening", "e3"),
    ("A01", "Nimzowitsch-Larsen Attack", "b3"),
    ("A02", "Bird's Opening", "f4"),
    ("A02", "Bird's Opening: From's Gambit", "f4 e5"),
    ("A03", "Bird's Opening: Dutch Variation", "f4 d5"),
    ("A04", "Réti Opening", "Nf3"),
    ("A05", "Réti Opening: Indian Set-up", "Nf3 Nf6"),
    ("A07", "King's Indian Attack", "Nf3 d5 g3"),
    ("A09", "Réti Opening: Main Line", "Nf3 d5 c4"),
    ("A10", "English Opening", "c4"),
    ("A13", "English Opening: Agincourt Defence", "c4 e6"),
    ("A15", "English Opening: Anglo-Indian Defence", "c4 Nf6"),
    ("A20", "English Opening: Reversed Sicilian", "c4 e5"),
    (
        "A22",
        "English Opening: Two Knights Variation",
        "c4 e5 Nc3 Nf6",
    ),
    ("A25", "English Opening: Closed Variation", "c4 e5 Nc3 Nc6"),
    (
        "A28",
        "English Opening: Four Knights Variation",
        "c4 e5 Nc3 Nf6 Nf3 Nc6",
    ),
    ("A30", "English Opening: Symmetrical Variation", "c4 c5"),
    ("A40", "Queen's Pawn Opening", "d4"),
    ("A40", "English Defence", "d4 e6 c4 b6"),
    ("A43", "Old Benoni Defence", "d4 c5"),
    ("A45", "Indian Defence", "d4 Nf6"),
    ("A45", "Trompowsky Attack", "d4 Nf6 Bg5"),
    ("A46", "Indian Defence: Knights Variation", "d4 Nf6 Nf3"),
    (
        "A48",
        "London System against the King's Indian",
        "d4 Nf6 Nf3 g6 Bf4",
    ),
    ("A51", "Budapest Gambit", "d4 Nf6 c4 e5"),
    ("A53", "Old Indian Defence", "d4 Nf6 c4 d6"),
    ("A56", "Benoni Defence", "d4 Nf6 c4 c5"),
    ("A57", "Benko Gambit", "d4 Nf6 c4 c5 d5 b5"),
    ("A60", "Modern Benoni", "d4 Nf6 c4 c5 d5 e6"),
    ("A80", "Dutch Defence", "d4 f5"),
    ("A82", "Dutch Defence: Staunton Gambit", "d4 f5 e4"),
    ("A84", "Dutch Defence: Queen's Pawn Variation", "d4 f5 c4"),
    (
        "A87",
        "Dutch Defence: Leningrad Variation",
        "d4 f5 c4 Nf6 g3 g6 Bg2 Bg7 Nf3",
    ),
    (
        "A90",
        "Dutch Defence: Classical Variation",
        "d4 f5 c4 Nf6 g3 e6 Bg2",
    ),
    ("B00", "King's Pawn Opening", "e4"),
    ("B00", "Nimzowitsch Defence", "e4 Nc6"),
    ("B00", "Owen's Defence", "e4 b6"),
    ("B01", "Scandinavian Defence", "e4 d5"),
    (
        "B01",
        "Scandinavian Defence: Main Line",
        "e4 d5 exd5 Qxd5 Nc3 Qa5",
    ),
    (
        "B01",
        "Scandinavian Defence: Modern Variation",
        "e4 d5 exd5 Nf6",
    ),
    ("B02", "Alekhine's Defence", "e4 Nf6"),
    (
        "B03",
        "Alekhine's Defence: Four Pawns Attack",
        "e4 Nf6 e5 Nd5 d4 d6 c4 Nb6 f4",
    ),
    (
        "B04",
        "Alekhine's Defence: Modern Variation",
        "e4 Nf6 e5 Nd5 d4 d6 Nf3",
    ),
    ("B06", "Modern Defence", "e4 g6"),
    ("B07", "Pirc Defence", "e4 d6 d4 Nf6"),
    (
        "B08",
        "Pirc Defence: Classical Variation",
        "e4 d6 d4 Nf6 Nc3 g6 Nf3",
    ),
    (
        "B09",
        "Pirc Defence: Austrian Attack",
        "e4 d6 d4 Nf6 Nc3 g6 f4",
    ),
    ("B10", "Caro-Kann Defence", "e4 c6"),
    (
        "B11",
        "Caro-Kann Defence: Two Knights Variation",
        "e4 c6 Nc3 d5 Nf3",
    ),
    (
        "B12",
        "Caro-Kann Defence: Advance Variation",
        "e4 c6 d4 d5 e5",
    ),
    (
        "B13",
        "Caro-Kann Defence: Exchange Variation",
        "e4 c6 d4 d5 exd5 cxd5",
    ),
    (
        "B13",
        "Caro-Kann Defence: Panov Attack",
        "e4 c6 d4 d5 exd5 cxd5 c4",
    ),
    ("B15", "Caro-Kann Defence: Main Line", "e4 c6 d4 d5 Nc3"),
    (
        "B17",
        "Caro-Kann Defence: Karpov Variation",
        "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nd7",
    ),
    (
        "B18",
        "Caro-Kann Defence: Classical Variation",
        "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5",
    ),
    ("B20", "Sicilian Defence", "e4 c5"),
    ("B20", "Sicilian Defence: Wing Gambit", "e4 c5 b4"),
    (
        "B21",
        "Sicilian Defence: Smith-Morra Gambit",
        "e4 c5 d4 cxd4 c3",
    ),
    ("B21", "Sicilian Defence: Grand Prix Attack", "e4 c5 f4"),
    ("B22", "Sicilian Defence: Alapin Variation", "e4 c5 c3"),
    ("B23", "Sicilian Defence: Closed Variation", "e4 c5 Nc3"),
    ("B27", "Sicilian Defence: Open Lines", "e4 c5 Nf3"),
    ("B30", "Sicilian Defence: Old Sicilian", "e4 c5 Nf3 Nc6"),
    (
        "B30",
        "Sicilian Defence: Rossolimo Variation",
        "e4 c5 Nf3 Nc6 Bb5",
    ),
    (
        "B32",
        "Sicilian Defence: Open",
        "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4",
    ),
    (
        "B33",
        "Sicilian Defence: Sveshnikov Variation",
        "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5",
    ),
    (
        "B34",
        "Sicilian Defence: Accelerated Dragon",
        "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6",
    ),
    ("B40", "Sicilian Defence: French Variation", "e4 c5 Nf3 e6"),
    (
        "B41",
        "Sicilian Defence: Kan Variation",
        "e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6",
    ),
    (
        "B44",
        "Sicilian Defence: Taimanov Variation",
        "e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6",
    ),
    ("B50", "Sicilian Defence: Modern Variations", "e4 c5 Nf3 d6"),
    (
        "B51",
        "Sicilian Defence: Moscow Variation",
        "e4 c5 Nf3 d6 Bb5+",
    ),
    (
        "B54",
        "Sicilian Defence: Open, Modern",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4",
    ),
    (
        "B56",
        "Sicilian Defence: Classical Variation",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6",
    ),
    (
        "B57",
        "Sicilian Defence: Classical, Sozin Attack",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6 Bc4",
    ),
    (
        "B60",
        "Sicilian Defence: Richter-Rauzer Attack",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6 Bg5",
    ),
    (
        "B70",
        "Sicilian Defence: Dragon Variation",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6",
    ),
    (
        "B75",
        "Sicilian Defence: Dragon, Yugoslav Attack",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6 Be3 Bg7 f3",
    ),
    (
        "B80",
        "Sicilian Defence: Scheveningen Variation",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6",
    ),
    (
        "B90",
        "Sicilian Defence: Najdorf Variation",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",
    ),
    (
        "B90",
        "Sicilian Defence: Najdorf, English Attack",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3",
    ),
    (
        "B92",
        "Sicilian Defence: Najdorf, Opocensky Variation",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2",
    ),
    (
        "B94",
        "Sicilian Defence: Najdorf, 6. Bg5",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5",
    ),
    (
        "B97",
        "Sicilian Defence: Najdorf, Poisoned Pawn",
        "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5 e6 f4 Qb6",
    ),
    ("C00", "French Defence", "e4 e6"),
    (
        "C01",
        "French Defence: Exchange Variation",
        "e4 e6 d4 d5 exd5",
    ),
    ("C02", "French Defence: Advance Variation", "e4 e6 d4 d5 e5"),
    (
        "C03",
        "French Defence: Tarrasch Variation",
        "e4 e6 d4 d5 Nd2",
    ),
    (
        "C10",
        "French Defence: Paulsen Variation",
        "e4 e6 d4 d5 Nc3",
    ),
    (
        "C10",
        "French Defence: Rubinstein Variation",
        "e4 e6 d4 d5 Nc3 dxe4",
    ),
    (
        "C11",
        "French Defence: Classical Variation",
        "e4 e6 d4 d5 Nc3 Nf6",
    ),
    (
        "C12",
        "French Defence: McCutcheon Variation",
        "e4 e6 d4 d5 Nc3 Nf6 Bg5 Bb4",
    ),
    (
        "C15",
        "French Defence: Winawer Variation",
        "e4 e6 d4 d5 Nc3 Bb4",
    ),
    (
        "C18",
        "French Defence: Winawer, Advance",
        "e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3+ bxc3",
    ),
    ("C20", "Open Game", "e4 e5"),
    ("C21", "Centre Game", "e4 e5 d4 exd4"),
    ("C21", "Danish Gambit", "e4 e5 d4 exd4 c3"),
    ("C23", "Bishop's Opening", "e4 e5 Bc4"),
    ("C25", "Vienna Game", "e4 e5 Nc3"),
    ("C29", "Vienna Gambit", "e4 e5 Nc3 Nf6 f4 d5"),
    ("C30", "King's Gambit", "e4 e5 f4"),
    (
        "C31",
        "King's Gambit: Falkbeer Countergambit",
        "e4 e5 f4 d5",
    ),
    ("C33", "King's Gambit Accepted", "e4 e5 f4 exf4"),
    (
        "C34",
        "King's Gambit Accepted: King's Knight's Gambit",
        "e4 e5 f4 exf4 Nf3",
    ),
    ("C40", "King's Knight Opening", "e4 e5 Nf3"),
    ("C40", "Latvian Gambit", "e4 e5 Nf3 f5"),
    ("C40", "Elephant Gambit", "e4 e5 Nf3 d5"),
    ("C41", "Philidor Defence", "e4 e5 Nf3 d6"),
    ("C42", "Petrov's Defence", "e4 e5 Nf3 Nf6"),
    (
        "C43",
        "Petrov's Defence: Steinitz Attack",
        "e4 e5 Nf3 Nf6 d4",
    ),
    (
        "C44",
        "King's Knight Opening: Normal Variation",
        "e4 e5 Nf3 Nc6",
    ),
    ("C44", "Ponziani Opening", "e4 e5 Nf3 Nc6 c3"),
    ("C44", "Scotch Gambit", "e4 e5 Nf3 Nc6 d4 exd4 Bc4"),
    ("C44", "Göring Gambit", "e4 e5 Nf3 Nc6 d4 exd4 c3"),
    ("C45", "Scotch Game", "e4 e5 Nf3 Nc6 d4 exd4 Nxd4"),
    ("C46", "Three Knights Opening", "e4 e5 Nf3 Nc6 Nc3"),
    ("C47", "Four Knights Game", "e4 e5 Nf3 Nc6 Nc3 Nf6"),
    (
        "C48",
        "Four Knights Game: Spanish Variation",
        "e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5",
    ),
    ("C50", "Italian Game", "e4 e5 Nf3 Nc6 Bc4"),
    ("C50", "Giuoco Piano", "e4 e5 Nf3 Nc6 Bc4 Bc5"),
    ("C51", "Evans Gambit", "e4 e5 Nf3 Nc6 Bc4 Bc5 b4"),
    ("C53", "Giuoco Piano: Main Line", "e4 e5 Nf3 Nc6 Bc4 Bc5 c3"),
    ("C55", "Two Knights Defence", "e4 e5 Nf3 Nc6 Bc4 Nf6"),
    (
        "C57",
        "Two Knights Defence: Knight Attack",
        "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5",
    ),
    (
        "C57",
        "Two Knights Defence: Fried Liver Attack",
        "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Nxd5 Nxf7",
    ),
    (
        "C58",
        "Two Knights Defence: Morphy Variation",
        "e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Na5",
    ),
    ("C60", "Ruy Lopez", "e4 e5 Nf3 Nc6 Bb5"),
    ("C61", "Ruy Lopez: Bird's Defence", "e4 e5 Nf3 Nc6 Bb5 Nd4"),
    (
        "C62",
        "Ruy Lopez: Old Steinitz Defence",
        "e4 e5 Nf3 Nc6 Bb5 d6",
    ),
    (
        "C63",
        "Ruy Lopez: Schliemann Defence",
        "e4 e5 Nf3 Nc6 Bb5 f5",
    ),
    (
        "C64",
        "Ruy Lopez: Classical Defence",
        "e4 e5 Nf3 Nc6 Bb5 Bc5",
    ),
    ("C65", "Ruy Lopez: Berlin Defence", "e4 e5 Nf3 Nc6 Bb5 Nf6"),
    (
        "C67",
        "Ruy Lopez: Berlin, Rio Gambit Accepted",
        "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4",
    ),
    (
        "C68",
        "Ruy Lopez: Exchange Variation",
        "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6",
    ),
    (
        "C70",
        "Ruy Lopez: Morphy Defence",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4",
    ),
    (
        "C77",
        "Ruy Lopez: Morphy Defence, 4... Nf6",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6",
    ),
    (
        "C80",
        "Ruy Lopez: Open Variation",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4",
    ),
    (
        "C84",
        "Ruy Lopez: Closed Variation",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7",
    ),
    (
        "C89",
        "Ruy Lopez: Marshall Attack",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d5",
    ),
    (
        "C92",
        "Ruy Lopez: Closed, Main Line",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3",
    ),
    (
        "C95",
        "Ruy Lopez: Breyer Variation",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8",
    ),
    ("D00", "Queen's Pawn Game", "d4 d5"),
    ("D00", "Blackmar-Diemer Gambit", "d4 d5 e4"),
    ("D00", "London System", "d4 d5 Bf4"),
    ("D02", "Queen's Pawn Game: Knight Variation", "d4 d5 Nf3"),
    (
        "D02",
        "London System: Knights Variation",
        "d4 d5 Nf3 Nf6 Bf4",
    ),
    ("D04", "Colle System", "d4 d5 Nf3 Nf6 e3"),
    ("D06", "Queen's Gambit", "d4 d5 c4"),
    ("D07", "Queen's Gambit: Chigorin Defence", "d4 d5 c4 Nc6"),
    ("D08", "Queen's Gambit: Albin Countergambit", "d4 d5 c4 e5"),
    ("D10", "Slav Defence", "d4 d5 c4 c6"),
    ("D11", "Slav Defence: Modern Line", "d4 d5 c4 c6 Nf3"),
    (
        "D13",
        "Slav Defence: Exchange Variation",
        "d4 d5 c4 c6 Nf3 Nf6 cxd5 cxd5",
    ),
    (
        "D15",
        "Slav Defence: Three Knights Variation",
        "d4 d5 c4 c6 Nf3 Nf6 Nc3",
    ),
    (
        "D17",
        "Slav Defence: Czech Variation",
        "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4 a4 Bf5",
    ),
    ("D20", "Queen's Gambit Accepted", "d4 d5 c4 dxc4"),
    ("D30", "Queen's Gambit Declined", "d4 d5 c4 e6"),
    (
        "D31",
        "Queen's Gambit Declined: Queen's Knight Variation",
        "d4 d5 c4 e6 Nc3",
    ),
    ("D32", "Tarrasch Defence", "d4 d5 c4 e6 Nc3 c5"),
    (
        "D35",
        "Queen's Gambit Declined: Exchange Variation",
        "d4 d5 c4 e6 Nc3 Nf6 cxd5",
    ),
    (
        "D37",
        "Queen's Gambit Declined: Three Knights Variation",
        "d4 d5 c4 e6 Nc3 Nf6 Nf3",
    ),
    (
        "D38",
        "Queen's Gambit Declined: Ragozin Defence",
        "d4 d5 c4 e6 Nc3 Nf6 Nf3 Bb4",
    ),
    ("D43", "Semi-Slav Defence", "d4 d5 c4 e6 Nc3 Nf6 Nf3 c6"),
    (
        "D45",
        "Semi-Slav Defence: Normal Variation",
        "d4 d5 c4 e6 Nc3 Nf6 Nf3 c6 e3",
    ),
    (
        "D47",
        "Semi-Slav Defence: Meran Variation",
        "d4 d5 c4 e6 Nc3 Nf6 Nf3 c6 e3 Nbd7 Bd3 dxc4 Bxc4",
    ),
    (
        "D50",
        "Queen's Gambit Declined: 4. Bg5",
        "d4 d5 c4 e6 Nc3 Nf6 Bg5",
    ),
    (
        "D53",
        "Queen's Gambit Declined: Classical Defence",
        "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7",
    ),
    ("D80", "Grünfeld Defence", "d4 Nf6 c4 g6 Nc3 d5"),
    (
        "D85",
        "Grünfeld Defence: Exchange Variation",
        "d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5",
    ),
    (
        "D96",
        "Grünfeld Defence: Russian Variation",
        "d4 Nf6 c4 g6 Nc3 d5 Nf3 Bg7 Qb3",
    ),
    ("E00", "Indian Defence: East Indian", "d4 Nf6 c4 e6"),
    ("E00", "Catalan Opening", "d4 Nf6 c4 e6 g3"),
    (
        "E04",
        "Catalan Opening: Open Variation",
        "d4 Nf6 c4 e6 g3 d5 Bg2 dxc4 Nf3",
    ),
    (
        "E06",
        "Catalan Opening: Closed Variation",
        "d4 Nf6 c4 e6 g3 d5 Bg2 Be7 Nf3",
    ),
    (
        "E10",
        "Indian Defence: Anti-Nimzo-Indian",
        "d4 Nf6 c4 e6 Nf3",
    ),
    (
        "E10",
        "Blumenfeld Countergambit",
        "d4 Nf6 c4 e6 Nf3 c5 d5 b5",
    ),
    ("E11", "Bogo-Indian Defence", "d4 Nf6 c4 e6 Nf3 Bb4+"),
    ("E12", "Queen's Indian Defence", "d4 Nf6 c4 e6 Nf3 b6"),
    (
        "E15",
        "Queen's Indian Defence: Fianchetto Variation",
        "d4 Nf6 c4 e6 Nf3 b6 g3",
    ),
    ("E20", "Nimzo-Indian Defence", "d4 Nf6 c4 e6 Nc3 Bb4"),
    (
        "E24",
        "Nimzo-Indian Defence: Sämisch Variation",
        "d4 Nf6 c4 e6 Nc3 Bb4 a3 Bxc3+ bxc3",
    ),
    (
        "E32",
        "Nimzo-Indian Defence: Classical Variation",
        "d4 Nf6 c4 e6 Nc3 Bb4 Qc2",
    ),
    (
        "E40",
        "Nimzo-Indian Defence: Rubinstein Variation",
        "d4 Nf6 c4 e6 Nc3 Bb4 e3",
    ),
    ("E60", "King's Indian Defence", "d4 Nf6 c4 g6"),
    (
        "E61",
        "King's Indian Defence: 3. Nc3",
        "d4 Nf6 c4 g6 Nc3 Bg7",
    ),
    (
        "E62",
        "King's Indian Defence: Fianchetto Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 Nf3 d6 g3",
    ),
    (
        "E70",
        "King's Indian Defence: Normal Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4",
    ),
    (
        "E73",
        "King's Indian Defence: Averbakh Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Be2 O-O Bg5",
    ),
    (
        "E76",
        "King's Indian Defence: Four Pawns Attack",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f4",
    ),
    (
        "E80",
        "King's Indian Defence: Sämisch Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f3",
    ),
    (
        "E90",
        "King's Indian Defence: Main Line",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3",
    ),
    (
        "E92",
        "King's Indian Defence: Orthodox Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5",
    ),
    (
        "E97",
        "King's Indian Defence: Mar del Plata Variation",
        "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5 O-O Nc6",
    ),
];

/// No opening of the list is longer, also not by a detour.
const MAX_PLIES: usize = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningName {
    pub eco: &'static str,
    pub name: &'static str,
}

impl OpeningName {
    /// The last known opening that a game passes through.
    pub fn of_game(start: &Position, moves: impl IntoIterator<Item = Move>) -> Option<OpeningName> {
        let names = names();
        let mut position = start.clone();
        let mut found = names.get(&position.key());
        for m in moves.into_iter().take(MAX_PLIES) {
            position.play(m);
            found = names.get(&position.key()).or(found);
        }
        found.copied()
    }
}

/// By the key of the position.
fn names() -> &'static HashMap<u64, OpeningName> {
    static NAMES: OnceLock<HashMap<u64, OpeningName>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let named = OPENINGS.iter().filter_map(|(eco, name, moves)| {
            let key = play(moves)?.key();
            Some((key, OpeningName { eco, name }))
        });
        named.collect()
    })
}

/// The position after these moves; `None` if one is not legal.
fn play(moves: &str) -> Option<Position> {
    let mut position = Position::default();
    for word in moves.split(' ') {
        let san: San = word.trim_end_matches('+').parse().ok()?;
        let m = san.to_move(position.chess()).ok()?;
        position.play(m);
    }
    Some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(moves: &str) -> Option<OpeningName> {
        let mut position = Position::default();
        let moves = moves.split(' ').map(|word| {
            let san: San = word.parse().unwrap();
            let m = san.to_move(position.chess()).unwrap();
            position.play(m);
            m
        });
        let moves: Vec<Move> = moves.collect();
        OpeningName::of_game(&Position::default(), moves)
    }

    #[test]
    fn every_line_is_legal_and_has_a_position_of_its_own() {
        for (eco, name, moves) in OPENINGS {
            assert!(play(moves).is_some(), "{name}");
            let (volume, number) = eco.split_at(1);
            assert!("ABCDE".contains(volume) && number.len() == 2, "{name}");
            assert!(number.parse::<u32>().is_ok(), "{name}");
        }
        assert_eq!(names().len(), OPENINGS.len());
        assert!(OPENINGS.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn the_last_known_opening_counts_and_the_order_of_moves_does_not() {
        let najdorf = of("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 h3 e5").unwrap();
        assert_eq!(najdorf.eco, "B90");
        assert!(najdorf.name.contains("Najdorf"));
        let transposed = of("Nf3 d6 e4 c5 d4 cxd4 Nxd4 a6 Nc3 Nf6").unwrap();
        assert_eq!(transposed, najdorf);
        assert_eq!(of("c4 e6 d4 d5").unwrap().name, "Queen's Gambit Declined");
        assert_eq!(of("a3"), None);
    }

    #[test]
    fn games_from_a_set_up_position_are_named_as_well() {
        let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        let start = Position::from_fen(fen).unwrap();
        assert_eq!(OpeningName::of_game(&start, []).unwrap().eco, "B20");
    }
}
