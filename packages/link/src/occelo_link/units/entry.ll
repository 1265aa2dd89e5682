; Made by llvm_from_c.py from sources with the digest 951e9ce78d4a1e2198d6630be2ff1d65
; with ziglang 0.17.1

%struct.input_record = type { i64, i64, i64, i64, i64, ptr, i64, ptr }

@calls = internal global i64 0, align 8

define ptr @grow(ptr %0, i64 %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %4 = load i64, ptr %3, align 8
  %5 = add i64 %4, %1
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = icmp ugt i64 %5, %7
  br i1 %8, label %11, label %9

9:
  store i64 %5, ptr %3, align 8
  %10 = inttoptr i64 %4 to ptr
  br label %43

11:
  %12 = add i64 %1, 128
  %13 = load i64, ptr %0, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 120
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %16(i64 %12)
  %18 = icmp eq ptr %17, null
  br i1 %18, label %43, label %19

19:
  %20 = getelementptr inbounds nuw i8, ptr %14, i64 248
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  %23 = icmp slt i64 %12, 4194304
  %24 = or i1 %23, %22
  %25 = ptrtoint ptr %17 to i64
  br i1 %24, label %33, label %26

26:
  %27 = add i64 %25, 4095
  %28 = and i64 %27, -4096
  %29 = inttoptr i64 %28 to ptr
  %30 = add i64 %12, %25
  %31 = sub i64 %30, %28
  %32 = tail call i32 %21(ptr %29, i64 %31, i32 14)
  br label %33

33:
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %35 = load i64, ptr %34, align 8
  %36 = inttoptr i64 %35 to ptr
  store ptr %36, ptr %17, align 8
  %37 = getelementptr inbounds nuw i8, ptr %17, i64 8
  store i64 %12, ptr %37, align 8
  store i64 %25, ptr %34, align 8
  %38 = getelementptr inbounds nuw i8, ptr %17, i64 16
  %39 = ptrtoint ptr %38 to i64
  %40 = add i64 %39, 63
  %41 = and i64 %40, -64
  %42 = inttoptr i64 %41 to ptr
  br label %43

43:
  %44 = phi ptr [ %10, %9 ], [ %42, %33 ], [ null, %11 ]
  ret ptr %44
}

define ptr @alloc_output(ptr %0, i64 %1, ptr %2) {
  %4 = load i64, ptr %0, align 8
  %5 = inttoptr i64 %4 to ptr
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %13, label %9

9:
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 184
  %11 = load ptr, ptr %10, align 8
  %12 = inttoptr i64 %7 to ptr
  tail call void %11(ptr %12)
  store i64 0, ptr %6, align 8
  br label %13

13:
  %14 = getelementptr inbounds nuw i8, ptr %5, i64 256
  %15 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr %struct.input_record, ptr %14, i64 %16
  %18 = getelementptr %struct.input_record, ptr %17, i64 %1
  %19 = getelementptr inbounds nuw i8, ptr %18, i64 24
  %20 = load ptr, ptr %19, align 8
  %21 = icmp eq ptr %20, null
  br i1 %21, label %42, label %22

22:
  %23 = load i32, ptr %20, align 4
  %24 = icmp eq i32 %23, 1
  br i1 %24, label %25, label %42

25:
  %26 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %20, i64 32
  %29 = load ptr, ptr %28, align 8
  %30 = icmp slt i64 %27, 1
  br i1 %30, label %41, label %34

31:
  %32 = add nuw nsw i64 %35, 1
  %33 = icmp eq i64 %32, %27
  br i1 %33, label %41, label %34

34:
  %35 = phi i64 [ %32, %31 ], [ 0, %25 ]
  %36 = getelementptr inbounds nuw i64, ptr %29, i64 %35
  %37 = load i64, ptr %36, align 8
  %38 = getelementptr inbounds nuw i64, ptr %2, i64 %35
  %39 = load i64, ptr %38, align 8
  %40 = icmp eq i64 %37, %39
  br i1 %40, label %31, label %42

41:
  store ptr null, ptr %19, align 8
  br label %56

42:
  %43 = getelementptr inbounds nuw i8, ptr %5, i64 96
  %44 = load ptr, ptr %43, align 8
  %45 = load ptr, ptr %18, align 8
  tail call void %44(ptr %45)
  %46 = getelementptr inbounds nuw i8, ptr %5, i64 80
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %49 = load ptr, ptr %48, align 8
  %50 = load ptr, ptr %18, align 8
  %51 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %52 = load i64, ptr %51, align 8
  %53 = trunc i64 %52 to i32
  %54 = tail call ptr %47(ptr %49, ptr %50, i32 %53, ptr %2, ptr null, ptr null, i32 0, ptr null)
  %55 = icmp eq ptr %54, null
  br i1 %55, label %65, label %56

56:
  %57 = phi ptr [ %20, %41 ], [ %54, %42 ]
  %58 = load i64, ptr %15, align 8
  %59 = mul i64 %58, 24
  %60 = getelementptr i8, ptr %0, i64 %59
  %61 = getelementptr i8, ptr %60, i64 40
  %62 = getelementptr inbounds ptr, ptr %61, i64 %1
  store ptr %57, ptr %62, align 8
  %63 = getelementptr inbounds nuw i8, ptr %57, i64 16
  %64 = load ptr, ptr %63, align 8
  br label %65

65:
  %66 = phi ptr [ %64, %56 ], [ null, %42 ]
  br i1 %8, label %72, label %67

67:
  %68 = getelementptr inbounds nuw i8, ptr %5, i64 176
  %69 = load ptr, ptr %68, align 8
  %70 = tail call ptr %69()
  %71 = ptrtoint ptr %70 to i64
  store i64 %71, ptr %6, align 8
  br label %72

72:
  ret ptr %66
}

define ptr @take(ptr %0, i64 %1, i64 %2, i64 %3) {
  %5 = load i64, ptr %0, align 8
  %6 = inttoptr i64 %5 to ptr
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %14, label %10

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 184
  %12 = load ptr, ptr %11, align 8
  %13 = inttoptr i64 %8 to ptr
  tail call void %12(ptr %13)
  store i64 0, ptr %7, align 8
  br label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %6, i64 256
  %16 = getelementptr inbounds %struct.input_record, ptr %15, i64 %2
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, 24
  %20 = getelementptr i8, ptr %0, i64 %19
  %21 = getelementptr i8, ptr %20, i64 40
  %22 = mul i64 %2, 24
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = getelementptr i8, ptr %23, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = inttoptr i64 %25 to ptr
  %27 = load i64, ptr %16, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %55, label %29

29:
  %30 = getelementptr inbounds nuw i8, ptr %16, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = inttoptr i64 %31 to ptr
  %33 = getelementptr %struct.input_record, ptr %15, i64 %18
  %34 = getelementptr %struct.input_record, ptr %33, i64 %1
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %36, %32
  br i1 %37, label %38, label %55

38:
  %39 = getelementptr inbounds nuw i8, ptr %6, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr ptr, ptr %21, i64 %40
  %42 = getelementptr ptr, ptr %41, i64 %2
  %43 = load ptr, ptr %42, align 8
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %44, 2
  br i1 %45, label %46, label %55

46:
  %47 = getelementptr inbounds nuw i8, ptr %43, i64 64
  %48 = load i32, ptr %47, align 4
  %49 = and i32 %48, 1285
  %50 = icmp eq i32 %49, 1285
  br i1 %50, label %51, label %55

51:
  %52 = getelementptr inbounds nuw i8, ptr %6, i64 96
  %53 = load ptr, ptr %52, align 8
  tail call void %53(ptr %43)
  %54 = getelementptr inbounds ptr, ptr %21, i64 %1
  store ptr %43, ptr %54, align 8
  br label %86

55:
  %56 = getelementptr i8, ptr %23, i64 48
  %57 = load i64, ptr %56, align 8
  %58 = inttoptr i64 %57 to ptr
  %59 = tail call ptr @alloc_output(ptr %0, i64 %1, ptr %58)
  %60 = icmp eq ptr %59, null
  br i1 %60, label %86, label %61

61:
  %62 = icmp sgt i64 %3, 7
  br i1 %62, label %68, label %63

63:
  %64 = phi i64 [ %3, %61 ], [ %73, %68 ]
  %65 = phi ptr [ %59, %61 ], [ %74, %68 ]
  %66 = phi ptr [ %26, %61 ], [ %75, %68 ]
  %67 = icmp sgt i64 %64, 0
  br i1 %67, label %77, label %86

68:
  %69 = phi ptr [ %75, %68 ], [ %26, %61 ]
  %70 = phi ptr [ %74, %68 ], [ %59, %61 ]
  %71 = phi i64 [ %73, %68 ], [ %3, %61 ]
  %72 = load i64, ptr %69, align 1
  store i64 %72, ptr %70, align 1
  %73 = add nsw i64 %71, -8
  %74 = getelementptr inbounds nuw i8, ptr %70, i64 8
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 8
  %76 = icmp samesign ugt i64 %71, 15
  br i1 %76, label %68, label %63

77:
  %78 = phi ptr [ %81, %77 ], [ %66, %63 ]
  %79 = phi ptr [ %83, %77 ], [ %65, %63 ]
  %80 = phi i64 [ %84, %77 ], [ %64, %63 ]
  %81 = getelementptr inbounds nuw i8, ptr %78, i64 1
  %82 = load i8, ptr %78, align 1
  %83 = getelementptr inbounds nuw i8, ptr %79, i64 1
  store i8 %82, ptr %79, align 1
  %84 = add nsw i64 %80, -1
  %85 = icmp samesign ugt i64 %80, 1
  br i1 %85, label %77, label %86

86:
  %87 = phi ptr [ %26, %51 ], [ null, %55 ], [ %59, %63 ], [ %59, %77 ]
  ret ptr %87
}

define i64 @poll(ptr %0) {
  %2 = load i64, ptr %0, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %5 = load ptr, ptr %4, align 8
  %6 = tail call i64 %5()
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 240
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %6, %8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %18, label %13

13:
  br i1 %9, label %14, label %30

14:
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %16 = load ptr, ptr %15, align 8
  %17 = inttoptr i64 %11 to ptr
  tail call void %16(ptr %17)
  store i64 0, ptr %10, align 8
  br label %19

18:
  br i1 %9, label %19, label %24

19:
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 224
  %21 = load ptr, ptr %20, align 8
  %22 = tail call i32 %21()
  %23 = sext i32 %22 to i64
  br label %24

24:
  %25 = phi i64 [ %23, %19 ], [ 0, %18 ]
  %26 = getelementptr inbounds nuw i8, ptr %3, i64 176
  %27 = load ptr, ptr %26, align 8
  %28 = tail call ptr %27()
  %29 = ptrtoint ptr %28 to i64
  store i64 %29, ptr %10, align 8
  br label %30

30:
  %31 = phi i64 [ %25, %24 ], [ 0, %13 ]
  ret i64 %31
}

define ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = alloca i32, align 4
  %6 = alloca [384 x i64], align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %2, %10
  %12 = icmp ne ptr %3, null
  %13 = or i1 %12, %11
  br i1 %13, label %406, label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = shl i64 %16, 2
  %18 = add i64 %17, 5
  %19 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %20 = load i64, ptr %19, align 8
  %21 = add i64 %18, %20
  %22 = icmp sgt i64 %21, 384
  br i1 %22, label %23, label %29

23:
  %24 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %25 = load ptr, ptr %24, align 8
  %26 = shl i64 %21, 3
  %27 = tail call ptr %25(i64 %26)
  %28 = icmp eq ptr %27, null
  br i1 %28, label %406, label %29

29:
  %30 = phi ptr [ %27, %23 ], [ %6, %14 ]
  %31 = ptrtoint ptr %8 to i64
  store i64 %31, ptr %30, align 8
  %32 = load i64, ptr %15, align 8
  %33 = mul i64 %32, 24
  %34 = getelementptr i8, ptr %30, i64 %33
  %35 = getelementptr i8, ptr %34, i64 40
  %36 = load i64, ptr %19, align 8
  %37 = shl nsw i64 %36, 3
  %38 = getelementptr inbounds i8, ptr %35, i64 %37
  %39 = getelementptr inbounds nuw i8, ptr %8, i64 216
  %40 = load i64, ptr %39, align 8
  %41 = icmp slt i64 %40, 1
  br i1 %41, label %71, label %42

42:
  %43 = getelementptr inbounds nuw i8, ptr %8, i64 192
  %44 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %45

45:
  %46 = phi i64 [ 0, %42 ], [ %66, %65 ]
  %47 = load ptr, ptr %43, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = getelementptr inbounds nuw ptr, ptr %48, i64 %46
  %50 = load ptr, ptr %49, align 8
  %51 = tail call i32 %47(ptr %50, i32 0)
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %65

53:
  %54 = icmp eq i64 %46, 0
  br i1 %54, label %398, label %55

55:
  %56 = getelementptr inbounds nuw i8, ptr %8, i64 200
  br label %57

57:
  %58 = phi i64 [ %46, %55 ], [ %61, %57 ]
  %59 = load ptr, ptr %56, align 8
  %60 = load ptr, ptr %44, align 8
  %61 = add nsw i64 %58, -1
  %62 = getelementptr inbounds nuw ptr, ptr %60, i64 %61
  %63 = load ptr, ptr %62, align 8
  tail call void %59(ptr %63)
  %64 = icmp samesign ugt i64 %58, 1
  br i1 %64, label %57, label %398

65:
  %66 = add nuw nsw i64 %46, 1
  %67 = load i64, ptr %39, align 8
  %68 = icmp slt i64 %66, %67
  br i1 %68, label %45, label %69

69:
  %70 = load i64, ptr %15, align 8
  br label %71

71:
  %72 = phi i64 [ %70, %69 ], [ %32, %29 ]
  %73 = icmp sgt i64 %72, 0
  br i1 %73, label %74, label %237

74:
  %75 = getelementptr inbounds nuw i8, ptr %8, i64 256
  %76 = getelementptr inbounds nuw i8, ptr %30, i64 40
  %77 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %78 = getelementptr inbounds nuw i8, ptr %8, i64 136
  %79 = getelementptr inbounds nuw i8, ptr %8, i64 144
  %80 = getelementptr inbounds nuw i8, ptr %8, i64 152
  %81 = getelementptr inbounds nuw i8, ptr %8, i64 160
  br label %82

82:
  %83 = phi i1 [ false, %74 ], [ %224, %223 ]
  %84 = phi ptr [ %76, %74 ], [ %229, %223 ]
  %85 = phi ptr [ %75, %74 ], [ %228, %223 ]
  %86 = phi i64 [ 0, %74 ], [ %227, %223 ]
  %87 = phi i64 [ 0, %74 ], [ %226, %223 ]
  %88 = load i64, ptr %85, align 8
  %89 = icmp eq i64 %88, 0
  %90 = getelementptr inbounds nuw i8, ptr %85, i64 8
  %91 = load i64, ptr %90, align 8
  br i1 %89, label %96, label %92

92:
  %93 = inttoptr i64 %91 to ptr
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 24
  %95 = load ptr, ptr %94, align 8
  br label %98

96:
  %97 = getelementptr inbounds ptr, ptr %1, i64 %91
  br label %98

98:
  %99 = phi ptr [ %95, %92 ], [ %97, %96 ]
  %100 = load ptr, ptr %99, align 8
  %101 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %77, align 8
  %104 = icmp eq ptr %102, %103
  br i1 %104, label %105, label %175

105:
  %106 = getelementptr inbounds nuw i8, ptr %100, i64 24
  %107 = load i32, ptr %106, align 4
  %108 = sext i32 %107 to i64
  %109 = getelementptr inbounds nuw i8, ptr %85, i64 32
  %110 = load i64, ptr %109, align 8
  %111 = icmp eq i64 %110, %108
  br i1 %111, label %112, label %382

112:
  %113 = getelementptr inbounds nuw i8, ptr %100, i64 64
  %114 = load i32, ptr %113, align 4
  %115 = and i32 %114, 257
  %116 = icmp eq i32 %115, 257
  br i1 %116, label %117, label %382

117:
  %118 = getelementptr inbounds nuw i8, ptr %100, i64 56
  %119 = load ptr, ptr %118, align 8
  %120 = getelementptr inbounds nuw i8, ptr %85, i64 56
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %119, %121
  br i1 %122, label %137, label %123

123:
  %124 = getelementptr inbounds nuw i8, ptr %119, i64 28
  %125 = load i32, ptr %124, align 4
  %126 = sext i32 %125 to i64
  %127 = getelementptr inbounds nuw i8, ptr %119, i64 26
  %128 = load i8, ptr %127, align 2
  %129 = getelementptr inbounds nuw i8, ptr %85, i64 16
  %130 = load i64, ptr %129, align 8
  %131 = icmp eq i64 %130, %126
  br i1 %131, label %136, label %132

132:
  %133 = getelementptr inbounds nuw i8, ptr %85, i64 24
  %134 = load i64, ptr %133, align 8
  %135 = icmp eq i64 %134, %126
  br i1 %135, label %136, label %382

136:
  switch i8 %128, label %382 [
    i8 124, label %137
    i8 61, label %137
    i8 60, label %137
  ]

137:
  %138 = getelementptr inbounds nuw i8, ptr %100, i64 32
  %139 = load ptr, ptr %138, align 8
  %140 = getelementptr inbounds nuw i8, ptr %85, i64 40
  %141 = load ptr, ptr %140, align 8
  %142 = icmp sgt i32 %107, 0
  br i1 %142, label %143, label %162

143:
  %144 = icmp eq ptr %141, null
  br label %145

145:
  %146 = phi i64 [ 0, %143 ], [ %160, %156 ]
  %147 = phi i64 [ 1, %143 ], [ %159, %156 ]
  br i1 %144, label %156, label %148

148:
  %149 = getelementptr inbounds nuw i64, ptr %141, i64 %146
  %150 = load i64, ptr %149, align 8
  %151 = icmp sgt i64 %150, -1
  br i1 %151, label %152, label %156

152:
  %153 = getelementptr inbounds nuw i64, ptr %139, i64 %146
  %154 = load i64, ptr %153, align 8
  %155 = icmp eq i64 %150, %154
  br i1 %155, label %156, label %382

156:
  %157 = getelementptr inbounds nuw i64, ptr %139, i64 %146
  %158 = load i64, ptr %157, align 8
  %159 = mul i64 %158, %147
  %160 = add nuw nsw i64 %146, 1
  %161 = icmp eq i64 %160, %108
  br i1 %161, label %162, label %145

162:
  %163 = phi i64 [ 1, %137 ], [ %159, %156 ]
  %164 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %165 = load i64, ptr %164, align 8
  store i64 %165, ptr %84, align 8
  %166 = ptrtoint ptr %139 to i64
  %167 = getelementptr inbounds nuw i8, ptr %84, i64 8
  store i64 %166, ptr %167, align 8
  %168 = getelementptr inbounds nuw i8, ptr %100, i64 40
  %169 = load i64, ptr %168, align 8
  %170 = getelementptr inbounds nuw i8, ptr %84, i64 16
  store i64 %169, ptr %170, align 8
  %171 = load i64, ptr %85, align 8
  %172 = icmp eq i64 %171, 0
  br i1 %172, label %223, label %173

173:
  %174 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  store ptr %100, ptr %174, align 8
  br label %223

175:
  %176 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %177 = load i64, ptr %176, align 8
  %178 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  %179 = icmp eq i64 %177, 0
  br i1 %179, label %213, label %180

180:
  %181 = and i64 %177, 2
  %182 = icmp ne i64 %181, 0
  %183 = load ptr, ptr %78, align 8
  %184 = icmp eq ptr %102, %183
  %185 = and i64 %177, 1
  %186 = icmp eq i64 %185, 0
  br i1 %186, label %195, label %187

187:
  br i1 %184, label %192, label %188

188:
  %189 = load ptr, ptr %79, align 8
  %190 = icmp ne ptr %102, %189
  %191 = or i1 %182, %190
  br i1 %191, label %195, label %192

192:
  %193 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %194 = load double, ptr %193, align 8
  br label %211

195:
  %196 = load ptr, ptr %80, align 8
  %197 = icmp eq ptr %102, %196
  br i1 %197, label %198, label %213

198:
  %199 = load ptr, ptr %81, align 8
  %200 = call i64 %199(ptr %100, ptr %5)
  %201 = load i32, ptr %5, align 4
  %202 = icmp eq i32 %201, 0
  br i1 %202, label %203, label %213

203:
  br i1 %186, label %204, label %206

204:
  %205 = bitcast i64 %200 to double
  br label %214

206:
  %207 = add i64 %200, -9007199254740993
  %208 = icmp ult i64 %207, -18014398509481985
  br i1 %208, label %213, label %209

209:
  %210 = sitofp i64 %200 to double
  br label %211

211:
  %212 = phi double [ %194, %192 ], [ %210, %209 ]
  br i1 %182, label %216, label %214

213:
  br label %382

214:
  %215 = phi double [ %205, %204 ], [ %212, %211 ]
  store double %215, ptr %178, align 8
  br label %221

216:
  %217 = fptrunc double %212 to float
  store float %217, ptr %178, align 4
  %218 = fpext float %217 to double
  %219 = fcmp oeq double %212, %218
  %220 = select i1 %184, i1 true, i1 %219
  br i1 %220, label %221, label %382

221:
  %222 = ptrtoint ptr %178 to i64
  store i64 %222, ptr %84, align 8
  br label %223

223:
  %224 = phi i1 [ %83, %162 ], [ true, %173 ], [ %83, %221 ]
  %225 = phi i64 [ %163, %162 ], [ %163, %173 ], [ 1, %221 ]
  %226 = add i64 %225, %87
  %227 = add nuw nsw i64 %86, 1
  %228 = getelementptr inbounds nuw i8, ptr %85, i64 64
  %229 = getelementptr inbounds nuw i8, ptr %84, i64 24
  %230 = icmp eq i64 %227, %72
  br i1 %230, label %231, label %82

231:
  %232 = icmp sgt i64 %226, -1
  br i1 %232, label %233, label %382

233:
  br i1 %224, label %234, label %237

234:
  %235 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %236 = load ptr, ptr %235, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %236)
  br label %237

237:
  %238 = phi i1 [ false, %233 ], [ true, %234 ], [ false, %71 ]
  %239 = phi i64 [ %226, %233 ], [ %226, %234 ], [ 0, %71 ]
  %240 = icmp sgt i64 %36, 0
  br i1 %240, label %241, label %245

241:
  %242 = phi ptr [ %243, %241 ], [ %35, %237 ]
  store ptr null, ptr %242, align 8
  %243 = getelementptr inbounds nuw i8, ptr %242, i64 8
  %244 = icmp ult ptr %243, %38
  br i1 %244, label %241, label %245

245:
  %246 = getelementptr inbounds nuw i8, ptr %30, i64 32
  store i64 0, ptr %246, align 8
  %247 = getelementptr inbounds nuw i8, ptr %30, i64 24
  store i64 0, ptr %247, align 8
  %248 = getelementptr inbounds nuw i8, ptr %30, i64 16
  store i64 0, ptr %248, align 8
  %249 = getelementptr inbounds nuw i8, ptr %30, i64 8
  store i64 0, ptr %249, align 8
  %250 = getelementptr inbounds nuw i8, ptr %8, i64 64
  %251 = load atomic i64, ptr %250 monotonic, align 8
  %252 = icmp eq i64 %251, 0
  br i1 %252, label %262, label %253

253:
  %254 = atomicrmw xchg ptr %250, i64 0 acquire, align 8
  %255 = icmp eq i64 %254, 0
  br i1 %255, label %262, label %256

256:
  %257 = add i64 %254, 71
  %258 = and i64 %257, -64
  store i64 %258, ptr %249, align 8
  %259 = inttoptr i64 %254 to ptr
  %260 = load i64, ptr %259, align 8
  %261 = add i64 %260, %254
  store i64 %261, ptr %248, align 8
  br label %262

262:
  %263 = phi i64 [ 0, %253 ], [ %254, %256 ], [ 0, %245 ]
  %264 = icmp samesign ugt i64 %239, 16384
  br i1 %264, label %265, label %270

265:
  %266 = getelementptr inbounds nuw i8, ptr %8, i64 176
  %267 = load ptr, ptr %266, align 8
  %268 = call ptr %267()
  %269 = ptrtoint ptr %268 to i64
  store i64 %269, ptr %246, align 8
  br label %270

270:
  %271 = load ptr, ptr %8, align 8
  %272 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %273 = load ptr, ptr %272, align 8
  %274 = call i64 %271(ptr %30, ptr %273)
  %275 = load i64, ptr %246, align 8
  %276 = icmp eq i64 %275, 0
  br i1 %276, label %281, label %277

277:
  %278 = getelementptr inbounds nuw i8, ptr %8, i64 184
  %279 = load ptr, ptr %278, align 8
  %280 = inttoptr i64 %275 to ptr
  call void %279(ptr %280)
  store i64 0, ptr %246, align 8
  br label %281

281:
  %282 = load i64, ptr %247, align 8
  %283 = icmp eq i64 %282, 0
  br i1 %283, label %286, label %284

284:
  %285 = call fastcc i64 @larger_arena(ptr %8, ptr %30, i64 %263)
  br label %286

286:
  %287 = phi i64 [ %285, %284 ], [ %263, %281 ]
  %288 = icmp eq i64 %287, 0
  br i1 %288, label %296, label %289

289:
  %290 = atomicrmw xchg ptr %250, i64 %287 release, align 8
  %291 = icmp eq i64 %290, 0
  br i1 %291, label %296, label %292

292:
  %293 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %294 = load ptr, ptr %293, align 8
  %295 = inttoptr i64 %290 to ptr
  call void %294(ptr %295)
  br label %296

296:
  br i1 %238, label %297, label %300

297:
  %298 = getelementptr inbounds nuw i8, ptr %8, i64 104
  %299 = load ptr, ptr %298, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %299)
  br label %300

300:
  %301 = icmp eq i64 %274, 0
  %302 = icmp eq i64 %274, -2
  %303 = or i1 %301, %302
  br i1 %301, label %304, label %376

304:
  %305 = load ptr, ptr %35, align 8
  %306 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %307 = load i64, ptr %306, align 8
  %308 = load i64, ptr %19, align 8
  %309 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %310 = load i64, ptr %309, align 8
  %311 = icmp eq i64 %310, 1
  br i1 %311, label %329, label %312

312:
  %313 = getelementptr inbounds nuw i8, ptr %8, i64 88
  %314 = load ptr, ptr %313, align 8
  %315 = call ptr %314(i64 %307)
  %316 = icmp eq ptr %315, null
  br i1 %316, label %317, label %318

317:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  br label %382

318:
  %319 = getelementptr inbounds nuw i8, ptr %315, i64 24
  %320 = load ptr, ptr %319, align 8
  %321 = icmp sgt i64 %307, 0
  br i1 %321, label %322, label %329

322:
  %323 = phi i64 [ %327, %322 ], [ 0, %318 ]
  %324 = getelementptr inbounds nuw ptr, ptr %35, i64 %323
  %325 = load ptr, ptr %324, align 8
  %326 = getelementptr inbounds nuw ptr, ptr %320, i64 %323
  store ptr %325, ptr %326, align 8
  %327 = add nuw nsw i64 %323, 1
  %328 = icmp eq i64 %327, %307
  br i1 %328, label %329, label %322

329:
  %330 = phi ptr [ %305, %304 ], [ %315, %318 ], [ %315, %322 ]
  %331 = icmp slt i64 %307, %308
  br i1 %331, label %332, label %382

332:
  %333 = getelementptr inbounds nuw i8, ptr %8, i64 256
  %334 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %335 = getelementptr inbounds nuw i8, ptr %8, i64 104
  br label %336

336:
  %337 = phi i64 [ %307, %332 ], [ %374, %373 ]
  %338 = load i64, ptr %15, align 8
  %339 = getelementptr %struct.input_record, ptr %333, i64 %338
  %340 = getelementptr %struct.input_record, ptr %339, i64 %337
  %341 = getelementptr inbounds ptr, ptr %35, i64 %337
  %342 = load ptr, ptr %341, align 8
  %343 = getelementptr inbounds nuw i8, ptr %340, i64 16
  %344 = load ptr, ptr %343, align 8
  %345 = getelementptr inbounds nuw i8, ptr %344, i64 24
  %346 = load ptr, ptr %345, align 8
  %347 = load ptr, ptr %346, align 8
  store ptr %342, ptr %346, align 8
  %348 = getelementptr inbounds nuw i8, ptr %340, i64 24
  %349 = load ptr, ptr %348, align 8
  %350 = icmp eq ptr %349, null
  br i1 %350, label %351, label %371

351:
  %352 = getelementptr inbounds nuw i8, ptr %347, i64 8
  %353 = load ptr, ptr %352, align 8
  %354 = load ptr, ptr %334, align 8
  %355 = icmp eq ptr %353, %354
  br i1 %355, label %356, label %371

356:
  %357 = load i32, ptr %347, align 4
  %358 = icmp eq i32 %357, 1
  br i1 %358, label %359, label %371

359:
  %360 = getelementptr inbounds nuw i8, ptr %347, i64 64
  %361 = load i32, ptr %360, align 4
  %362 = and i32 %361, 1285
  %363 = icmp eq i32 %362, 1285
  br i1 %363, label %364, label %371

364:
  %365 = getelementptr inbounds nuw i8, ptr %347, i64 56
  %366 = load ptr, ptr %365, align 8
  %367 = getelementptr inbounds nuw i8, ptr %342, i64 56
  %368 = load ptr, ptr %367, align 8
  %369 = icmp eq ptr %366, %368
  br i1 %369, label %370, label %371

370:
  store ptr %347, ptr %348, align 8
  br label %373

371:
  %372 = load ptr, ptr %335, align 8
  call void %372(ptr %347)
  br label %373

373:
  %374 = add i64 %337, 1
  %375 = icmp eq i64 %374, %308
  br i1 %375, label %382, label %336

376:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  %377 = icmp sgt i64 %274, -1
  %378 = or i1 %377, %302
  br i1 %378, label %382, label %379

379:
  %380 = getelementptr inbounds nuw i8, ptr %8, i64 168
  %381 = load ptr, ptr %380, align 8
  call void %381()
  br label %382

382:
  %383 = phi ptr [ null, %376 ], [ null, %379 ], [ %330, %373 ], [ null, %231 ], [ null, %317 ], [ %330, %329 ], [ null, %213 ], [ null, %152 ], [ null, %136 ], [ null, %132 ], [ null, %105 ], [ null, %216 ], [ null, %112 ]
  %384 = phi i1 [ %303, %376 ], [ %303, %379 ], [ %303, %373 ], [ false, %231 ], [ true, %317 ], [ true, %329 ], [ false, %213 ], [ false, %152 ], [ false, %136 ], [ false, %132 ], [ false, %105 ], [ false, %216 ], [ false, %112 ]
  %385 = load i64, ptr %39, align 8
  %386 = icmp sgt i64 %385, 0
  br i1 %386, label %387, label %398

387:
  %388 = getelementptr inbounds nuw i8, ptr %8, i64 200
  %389 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %390

390:
  %391 = phi i64 [ %385, %387 ], [ %394, %390 ]
  %392 = load ptr, ptr %388, align 8
  %393 = load ptr, ptr %389, align 8
  %394 = add nsw i64 %391, -1
  %395 = getelementptr inbounds nuw ptr, ptr %393, i64 %394
  %396 = load ptr, ptr %395, align 8
  call void %392(ptr %396)
  %397 = icmp samesign ugt i64 %391, 1
  br i1 %397, label %390, label %398

398:
  %399 = phi ptr [ %383, %390 ], [ null, %53 ], [ %383, %382 ], [ null, %57 ]
  %400 = phi i1 [ %384, %390 ], [ false, %53 ], [ %384, %382 ], [ false, %57 ]
  %401 = icmp eq ptr %30, %6
  br i1 %401, label %405, label %402

402:
  %403 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %404 = load ptr, ptr %403, align 8
  call void %404(ptr %30)
  br label %405

405:
  br i1 %400, label %412, label %406

406:
  %407 = getelementptr inbounds nuw i8, ptr %8, i64 112
  %408 = load ptr, ptr %407, align 8
  %409 = getelementptr inbounds nuw i8, ptr %8, i64 56
  %410 = load ptr, ptr %409, align 8
  %411 = call ptr %408(ptr %410, ptr %1, i64 %2, ptr %3)
  br label %412

412:
  %413 = phi ptr [ %411, %406 ], [ %399, %405 ]
  ret ptr %413
}

define internal fastcc void @each_held(ptr %0, ptr %1, ptr %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %20

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 256
  br label %9

9:
  %10 = phi i64 [ 0, %7 ], [ %18, %17 ]
  %11 = getelementptr inbounds nuw %struct.input_record, ptr %8, i64 %10
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %17, label %14

14:
  %15 = getelementptr inbounds nuw ptr, ptr %1, i64 %10
  %16 = load ptr, ptr %15, align 8
  tail call void %2(ptr %16)
  br label %17

17:
  %18 = add nuw nsw i64 %10, 1
  %19 = icmp eq i64 %18, %5
  br i1 %19, label %20, label %9

20:
  ret void
}

define internal fastcc void @drop_outputs(ptr %0, ptr %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load i64, ptr %3, align 8
  %5 = icmp sgt i64 %4, 0
  br i1 %5, label %6, label %18

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %16, %15 ]
  %10 = getelementptr inbounds nuw ptr, ptr %1, i64 %9
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %15, label %13

13:
  %14 = load ptr, ptr %7, align 8
  tail call void %14(ptr %11)
  br label %15

15:
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %4
  br i1 %17, label %18, label %8

18:
  ret void
}

define ptr @calls_left() nounwind {
  ret ptr @calls
}

define ptr @counted_entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = load i64, ptr @calls, align 8
  %6 = add i64 %5, -1
  store i64 %6, ptr @calls, align 8
  %7 = icmp sgt i64 %6, -1
  br i1 %7, label %8, label %10

8:
  %9 = tail call ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %18

10:
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %12, i64 112
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %12, i64 56
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %14(ptr %16, ptr %1, i64 %2, ptr %3)
  br label %18

18:
  %19 = phi ptr [ %9, %8 ], [ %17, %10 ]
  ret ptr %19
}

define internal fastcc i64 @larger_arena(ptr %0, ptr %1, i64 %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %21, label %9

9:
  %10 = inttoptr i64 %7 to ptr
  br label %11

11:
  %12 = phi i64 [ %17, %11 ], [ 0, %9 ]
  %13 = phi ptr [ %14, %11 ], [ %10, %9 ]
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = add i64 %16, %12
  tail call void %5(ptr %13)
  %18 = icmp eq ptr %14, null
  br i1 %18, label %19, label %11

19:
  %20 = add i64 %17, 128
  br label %21

21:
  %22 = phi i64 [ 128, %3 ], [ %20, %19 ]
  %23 = icmp eq i64 %2, 0
  br i1 %23, label %27, label %24

24:
  %25 = inttoptr i64 %2 to ptr
  %26 = load i64, ptr %25, align 8
  br label %27

27:
  %28 = phi i64 [ %26, %24 ], [ 0, %21 ]
  %29 = add i64 %22, %28
  %30 = icmp sgt i64 %29, 67108864
  br i1 %30, label %53, label %31

31:
  %32 = load ptr, ptr %4, align 8
  %33 = inttoptr i64 %2 to ptr
  tail call void %32(ptr %33)
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %35 = load ptr, ptr %34, align 8
  %36 = tail call ptr %35(i64 %29)
  %37 = icmp eq ptr %36, null
  br i1 %37, label %53, label %38

38:
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  %42 = icmp slt i64 %29, 4194304
  %43 = or i1 %42, %41
  %44 = ptrtoint ptr %36 to i64
  br i1 %43, label %52, label %45

45:
  %46 = add i64 %44, 4095
  %47 = and i64 %46, -4096
  %48 = inttoptr i64 %47 to ptr
  %49 = add i64 %29, %44
  %50 = sub i64 %49, %47
  %51 = tail call i32 %40(ptr %48, i64 %50, i32 14)
  br label %52

52:
  store i64 %29, ptr %36, align 8
  br label %53

53:
  %54 = phi i64 [ %2, %27 ], [ %44, %52 ], [ 0, %31 ]
  ret i64 %54
}

